import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { findServices } from './services.ts';
import { temporaryTestFolder } from '../test/stack.ts';

const listed = parse(
  readFileSync(join(import.meta.dirname, '../test/fixtures/services.yaml'), 'utf8'),
) as Record<string, object>;
const entry = (name: string, port: number): string =>
  stringify({ [name]: { ...listed['beta-counter'], port, paths: [{ path: `/${name}` }] } });

/** Creates a folder `services` with these services, and services.yaml with this text beside it. */
const createServices = async (listYaml: string, ...names: string[]): Promise<string> => {
  const root = join(await temporaryTestFolder(), 'services');
  await mkdir(root);
  for (const name of names) {
    await mkdir(join(root, name, 'src'), { recursive: true });
    await writeFile(join(root, name, 'src/main.ts'), '');
  }
  await writeFile(join(root, '../services.yaml'), listYaml);
  return root;
};

test('services come from the list beside their folder, and a folder without src/main.ts is not a service', async () => {
  const root = await createServices(entry('second', 2) + entry('first', 1), 'first', 'second');
  await mkdir(join(root, 'notes'));
  expect((await findServices(root)).map(({ name, folder }) => [name, folder])).toEqual([
    ['first', join(root, 'first')],
    ['second', join(root, 'second')],
  ]);
});

test('the error names the invalid field of the list', async () => {
  await expect(findServices(await createServices(entry('a', 11), 'a'))).rejects.toThrow(
    /services\.yaml:\n.*must be at most 10\n.*at a\.port/,
  );
});

test('the error names a service that is only in the list or only in the folder', async () => {
  await expect(findServices(await createServices(entry('a', 1)))).rejects.toThrow(
    'services.yaml lists a, but',
  );
  await expect(findServices(await createServices(entry('a', 1), 'a', 'b'))).rejects.toThrow(
    'services.yaml does not list b',
  );
});
