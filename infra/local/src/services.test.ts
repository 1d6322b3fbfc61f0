import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { findServices } from './services.ts';
import { scratch } from '../test/stack.ts';

const listed = parse(
  readFileSync(join(import.meta.dirname, '../test/fixtures/services.yaml'), 'utf8'),
) as Record<string, object>;
const entry = (name: string, port: number): string =>
  stringify({ [name]: { ...listed['beta-counter'], port, paths: [{ path: `/${name}` }] } });

/** A folder `services` with these services, beside a list. */
const folderOf = async (list: string, ...names: string[]): Promise<string> => {
  const root = join(await scratch(), 'services');
  await mkdir(root);
  for (const name of names) {
    await mkdir(join(root, name, 'src'), { recursive: true });
    await writeFile(join(root, name, 'src/main.ts'), '');
  }
  await writeFile(join(root, '../services.yaml'), list);
  return root;
};

test('services are those of the list beside their folder, and a folder without src/main.ts is not a service', async () => {
  const root = await folderOf(entry('second', 2) + entry('first', 1), 'first', 'second');
  await mkdir(join(root, 'notes'));
  expect((await findServices(root)).map(({ name, folder }) => [name, folder])).toEqual([
    ['first', join(root, 'first')],
    ['second', join(root, 'second')],
  ]);
});

test('a list with a wrong field is refused by its name', async () => {
  await expect(findServices(await folderOf(entry('a', 11), 'a'))).rejects.toThrow(
    /services\.yaml:\n.*must be at most 10\n.*at a\.port/,
  );
});

test('a service that is only in the list, or only in the folder, is named', async () => {
  await expect(findServices(await folderOf(entry('a', 1)))).rejects.toThrow('services.yaml lists a, but');
  await expect(findServices(await folderOf(entry('a', 1), 'a', 'b'))).rejects.toThrow(
    'services.yaml does not list b',
  );
});
