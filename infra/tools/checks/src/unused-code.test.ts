import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, root } from './testing/folder.ts';

test('an unused file, export or dependency fails the check', () => {
  using folder = folderWith({
    'package.json': '{ "name": "small", "private": true, "type": "module" }',
    'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
    'packages/kit/package.json':
      '{ "name": "kit", "version": "1.0.0", "type": "module", "exports": "./src/index.ts", "dependencies": { "unused-package": "1.0.0" } }',
    'packages/kit/src/index.ts': "export { used } from './parts.ts';\n",
    'packages/kit/src/parts.ts': 'export const used = 1;\nexport const unusedExport = 2;\n',
    'packages/kit/src/unused-file.ts': 'export const nothing = 3;\n',
    'knip.json': readFileSync(join(root, 'knip.json'), 'utf8'),
  });
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/knip'), [], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  for (const name of ['unused-file.ts', 'unusedExport', 'unused-package']) expect(stdout).toContain(name);
});
