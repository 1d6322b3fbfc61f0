import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

const strict = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
  },
};

// The type check of the repository already compiles packages/client, which openapi-typescript generates.
test('the code that another generator writes from the documents of all services compiles', async () => {
  const output = await mkdtemp(join(tmpdir(), 'generator-'));
  onTestFinished(() => rm(output, { recursive: true }));
  const services = await readdir(join(root, 'services'));
  for (const name of services)
    await createClient({
      input: join(root, 'services', name, 'openapi.json'),
      output: join(output, name),
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    });
  await writeFile(join(output, 'tsconfig.json'), JSON.stringify(strict));
  const { stdout, status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', output], {
    encoding: 'utf8',
  });
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  expect(await readdir(join(output, 'wallet-operator'))).toContain('sdk.gen.ts');
});
