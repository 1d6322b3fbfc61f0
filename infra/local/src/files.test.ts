import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../test/scratch.ts';
import { readJson } from './files.ts';
import { run } from './spawn.ts';

test('readJson names a file that is not JSON, and why', async () => {
  const path = join(await scratch(), 'stack.json');
  await writeFile(path, 'not JSON');
  await expect(readJson(path)).rejects.toThrow(`${path} cannot be read: Unexpected token`);
});

test.runIf(process.getuid?.() === 0)('a file of another user is named, with what to do', async () => {
  const folder = await scratch();
  const path = join(folder, 'secrets.json');
  await chmod(folder, 0o755);
  await writeFile(path, '{}', { mode: 0o600 });
  // As root it loads the module, then reads as a user who may not.
  const script = `import(${JSON.stringify(new URL('./files.ts', import.meta.url).href)})
    .then(({ readJson }) => { process.setuid(65534); return readJson(${JSON.stringify(path)}); })
    .catch((error) => console.log(error.message));`;
  const { stdout } = await run(process.execPath, ['-e', script]);
  expect(stdout).toContain(`${path} cannot be read: it belongs to another user`);
});
