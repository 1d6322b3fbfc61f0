import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
let folder: string;

const write = (path: string, content: unknown): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
};

/** Adds a package to the temporary workspace; it imports the package `imported`, if any. */
const addPackage = (path: string, name: string, imported?: string): void => {
  const dependencies = imported ? { [imported]: 'workspace:*' } : {};
  write(`${path}/package.json`, {
    name,
    version: '1.0.0',
    type: 'module',
    exports: './index.ts',
    dependencies,
  });
  if (path.startsWith('services/')) write(`${path}/turbo.json`, { extends: ['//'], tags: ['service'] });
  write(`${path}/index.ts`, imported ? `export * from '${imported}';\n` : 'export const x = 1;\n');
};

const boundaries = () =>
  spawnSync('turbo', ['boundaries'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...spawnEnv, TURBO_TELEMETRY_DISABLED: '1' },
  });

const spawnEnv = { PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: tmpdir() };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'boundaries-'));
  cpSync(join(root, 'turbo.json'), join(folder, 'turbo.json'));
  write('package.json', { name: 'small', private: true, packageManager: 'pnpm@10.34.9' });
  write('pnpm-workspace.yaml', 'packages:\n  - services/*\n  - packages/*\n');
  spawnSync('git', ['init', '-q'], { cwd: folder });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const link = (from: string, name: string, to: string): void => {
  mkdirSync(join(folder, from, 'node_modules'), { recursive: true });
  symlinkSync(join(folder, to), join(folder, from, 'node_modules', name));
};

test('a service may use a package', () => {
  addPackage('packages/kit', 'kit');
  addPackage('services/a', 'a', 'kit');
  link('services/a', 'kit', 'packages/kit');
  const { status, stdout, stderr } = boundaries();
  expect(stdout + stderr).toContain('no issues found');
  expect(status).toBe(0);
});

test('a service that imports a service is refused', () => {
  addPackage('services/a', 'a', 'b');
  addPackage('services/b', 'b');
  link('services/a', 'b', 'services/b');
  const { status, stdout, stderr } = boundaries();
  expect(status, stdout + stderr).toBe(1);
});

test('a package that imports a service is refused', () => {
  addPackage('packages/kit', 'kit', 'b');
  addPackage('services/b', 'b');
  link('packages/kit', 'b', 'services/b');
  const { status, stdout, stderr } = boundaries();
  expect(status, stdout + stderr).toBe(1);
});

test('reaching into another package by a path is refused', () => {
  addPackage('packages/kit', 'kit');
  addPackage('services/a', 'a');
  write('services/a/index.ts', "export * from '../../packages/kit/index.ts';\n");
  const { status, stdout, stderr } = boundaries();
  expect(status, stdout + stderr).toBe(1);
});

const folders = globSync('services/*/package.json', { cwd: root }).map(dirname);

test.each(folders)('%s has the tag that the rule applies to', (path) => {
  const { tags } = JSON.parse(readFileSync(join(root, path, 'turbo.json'), 'utf8')) as { tags: string[] };
  expect(tags).toEqual(['service']);
});
