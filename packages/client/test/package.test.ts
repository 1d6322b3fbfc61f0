import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServices } from './services.ts';

const root = join(import.meta.dirname, '../../..');
const services = await startServices();
const folder = await mkdtemp(join(tmpdir(), 'client-package-'));
const project = join(folder, 'node_modules/@platform/client');
let tarball: Buffer;

const run = async (file: string, args: string[], cwd = folder): Promise<string> => {
  const child = promisify(execFile)(file, args, { cwd });
  const { stdout } = await child.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${file} ${args.join(' ')}\n${error.stdout}${error.stderr}`, { cause: error });
  });
  return stdout;
};

// Packs the client and installs the tarball in an empty project outside of the workspace.
beforeAll(async () => {
  const packageFolder = join(import.meta.dirname, '..');
  await run('pnpm', ['pack', '--pack-destination', folder], packageFolder);
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  tarball = await readFile(join(folder, name));
  await writeFile(join(folder, 'package.json'), '{ "name": "outside", "private": true, "type": "module" }');
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${name}`]);
});
afterAll(async () => {
  await services[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const program = (url: string): string => `
import { ApiError, iterateSkipTake, questService, taskManager, cookieSession, unwrap, type TaskManager } from '@platform/client';

const tasks = taskManager(${JSON.stringify(url)}, cookieSession());
await unwrap(tasks.POST('/auth/register', { body: { email: 'eve@example.test', password: 'correct horse battery' } }));
const task: TaskManager['schemas']['Task'] = await unwrap(tasks.POST('/tasks', { body: { title: 'Pack' } }));
const refusal = await unwrap(tasks.POST('/tasks', { body: { title: '' } })).catch((error: unknown) => error);
console.log(task.title, refusal instanceof ApiError && refusal.code);

export const titles = async (questId: string): Promise<(string | undefined)[]> => {
  const quests = questService(${JSON.stringify(url)});
  const questions = iterateSkipTake((query) =>
    quests.GET('/quests/{questId}/questions', { params: { path: { questId }, query } }),
  );
  return Array.fromAsync(questions, (question) => question.titles[0]?.title);
};

export const mistakes = () => [
  // @ts-expect-error: the path does not exist
  tasks.GET('/task'),
  // @ts-expect-error: a field of the body is missing
  tasks.POST('/tasks', { body: {} }),
];
`;

test('the packed client compiles under tsc --strict and runs on plain Node against a service', async () => {
  const url = await services.start('task-manager');
  await writeFile(join(folder, 'main.ts'), program(url));
  const strict = '--strict --skipLibCheck false --target es2024 --lib esnext,dom,dom.iterable --types'.split(
    ' ',
  );
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), ...strict, ''];
  const bundled = ['--noEmit', '--module', 'preserve', '--moduleResolution', 'bundler'];
  await run(process.execPath, [...tsc, ...bundled, 'main.ts']);
  await run(process.execPath, [...tsc, '--module', 'nodenext', 'main.ts']);
  expect(await run(process.execPath, ['main.js'])).toBe('Pack validation_failed\n');
});

test('the tarball is small and installs only openapi-fetch', async () => {
  expect(tarball.length).toBeLessThan(200_000);
  const installed = await readdir(join(folder, 'node_modules'));
  expect(installed.filter((name) => !name.startsWith('.')).toSorted()).toEqual([
    '@platform',
    'openapi-fetch',
    'openapi-typescript-helpers',
  ]);
  const files = await readdir(project, { recursive: true });
  expect(files.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', join('dist', 'index.d.ts')]));
});

test('publint finds nothing in the package', async () => {
  const { messages } = await publint({ pkgDir: project, strict: true, pack: false });
  expect(messages).toEqual([]);
});

test('ES modules that import the package resolve types and code to the same entry', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  if (!analysis.types) throw new Error('the package has no types');
  const { resolutions } = analysis.entrypoints['.'] ?? {};
  const visible = [resolutions?.['node16-esm'], resolutions?.bundler].map((entry) => entry?.visibleProblems);
  expect(visible).toEqual([[], []]);
});
