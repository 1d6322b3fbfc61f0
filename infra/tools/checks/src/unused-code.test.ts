import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

const files: Record<string, string> = {
  'package.json': '{ "name": "small", "private": true, "type": "module" }',
  'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
  'packages/kit/package.json':
    '{ "name": "kit", "version": "1.0.0", "type": "module", "exports": "./src/index.ts", "dependencies": { "unused-package": "1.0.0" } }',
  'packages/kit/src/index.ts': "export { used } from './parts.ts';\n",
  'packages/kit/src/parts.ts': 'export const used = 1;\nexport const unusedExport = 2;\n',
  'packages/kit/src/unused-file.ts': 'export const nothing = 3;\n',
};

test('an unused file, export or dependency fails the check', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unused-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  cpSync(join(root, 'knip.json'), join(folder, 'knip.json'));
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/knip'), [], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  for (const name of ['unused-file.ts', 'unusedExport', 'unused-package']) expect(stdout).toContain(name);
});
