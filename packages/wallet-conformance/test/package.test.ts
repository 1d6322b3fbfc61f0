import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulate } from './simulate.ts';

const folder = await mkdtemp(join(tmpdir(), 'conformance-package-'));

const run = (file: string, args: string[], cwd = folder) =>
  promisify(execFile)(file, args, { cwd }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );

// Packs the kit and installs the file in an empty project outside of the workspace.
beforeAll(async () => {
  await run('pnpm', ['pack', '--pack-destination', folder], join(import.meta.dirname, '..'));
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{ "name": "outside", "private": true, "type": "module" }');
  const { code, stderr } = await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${name}`]);
  if (code !== 0) throw new Error(stderr);
});
afterAll(() => rm(folder, { recursive: true }));

test('the packed program runs with npx and installs no other package', async () => {
  const calls = await simulate({ seed: 1, seconds: 1 });
  await writeFile(join(folder, 'calls.jsonl'), calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
  const checked = await run('npx', ['wallet-conformance', 'check', 'calls.jsonl']);
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('0 violations, 0 not judged') });
  expect(await readdir(join(folder, 'node_modules/@platform'))).toEqual(['wallet-conformance']);
  const installed = await readdir(join(folder, 'node_modules'));
  expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['@platform']);
  const files = await readdir(join(folder, 'node_modules/@platform/wallet-conformance'), { recursive: true });
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', join('dist', 'main.js')]));
  expect(files.filter((name) => name.endsWith('.ts'))).toEqual([]);
});

test('the program lists its commands, prints the usage of all for --help, and reports a usage error in one line', async () => {
  const none = await run('npx', ['wallet-conformance']);
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('The commands are certify, record, check');
  const all = await run('npx', ['wallet-conformance', '--', '--help']);
  expect(all.code).toBe(0);
  for (const command of ['certify', 'record', 'check', 'game-server', 'reconcile', 'sign'])
    expect(all.stdout).toMatch(new RegExp(`^${command}\\b`, 'm'));
  const wrong = await run('npx', ['wallet-conformance', 'record']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('a file for the recording is required');
  expect(wrong.stderr).not.toContain('--url');
});
