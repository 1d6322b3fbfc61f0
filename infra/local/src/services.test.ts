import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findServices } from './services.ts';
import { scratch } from '../test/scratch.ts';

const folderOf = async (...manifests: unknown[]): Promise<string> => {
  const root = await scratch();
  for (const [index, manifest] of manifests.entries()) {
    const folder = join(root, `service-${index}`);
    await mkdir(join(folder, 'src'), { recursive: true });
    await writeFile(join(folder, 'src/main.ts'), '');
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  }
  return root;
};

test('services come in the order of their ports, and a folder without src/main.ts is not a service', async () => {
  const root = await folderOf(
    { name: 'second', platform: { port: 2 } },
    { name: 'first', platform: { port: 1 } },
  );
  await mkdir(join(root, 'notes'));
  expect((await findServices(root)).map(({ name }) => name)).toEqual(['first', 'second']);
});

test.each([
  [{ name: 'x"; drop role', platform: { port: 1 } }, '"name" must be'],
  [{ name: 'a', platform: {} }, '"platform.port" must be a whole number'],
  [{ name: 'a', platform: { port: 11 } }, '"platform.port" must be a whole number from 1 to 10'],
  [{ name: 'a', platform: { port: 1, secrets: 'PEPPER' } }, '"platform.secrets" must be a list'],
])('%j is refused by the name of its file', async (manifest, reason) => {
  const root = await folderOf(manifest);
  await expect(findServices(root)).rejects.toThrow(`${join(root, 'service-0/package.json')}: ${reason}`);
});

test('two services with one port are refused by name', async () => {
  const root = await folderOf({ name: 'a', platform: { port: 1 } }, { name: 'b', platform: { port: 1 } });
  await expect(findServices(root)).rejects.toThrow(/have the same "platform.port" 1/);
});
