import { appendFileSync, existsSync, statSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platformPorts, startPlatform, type StartedPlatform } from '@platform/local/platform';
import type { TestProject } from 'vitest/node';
import { lastCode, openDemo } from './demo-code.ts';
import type { Prepared, Stack } from './stack.ts';

/** Starts the platform; its output is appended to `outputFile`. */
const start = async (local: string, outputFile: string): Promise<StartedPlatform> => {
  const ports = await platformPorts();
  const platform = startPlatform({
    local,
    args: ['--no-install'],
    // The origin of the page in cross-origin.test.ts is allowed.
    env: { ...ports, LOG_LEVEL: 'warn', CORS_ORIGINS: `http://127.0.0.1:${Number(ports.GATEWAY_PORT) - 1}` },
    onOutput: (text) => appendFileSync(outputFile, text),
  });
  await platform.ready();
  return platform;
};

/** Starts the platform and writes prepared.json, or the error, into the folder. */
const prepare = async (local: string): Promise<StartedPlatform | undefined> => {
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(local, `${name}.new`), text);
    await rename(join(local, `${name}.new`), join(local, name));
  };
  const outputFile = join(local, 'output');
  try {
    const platform = await start(local, outputFile);
    const stack = JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack;
    const demo = stack.gateway === null ? null : await openDemo(stack.gateway, await lastCode(outputFile));
    await write('prepared.json', JSON.stringify({ stack, demo, outputFile } satisfies Prepared));
    return platform;
  } catch (error) {
    await write('failed', String(error));
    return undefined;
  }
};

/** Number of finished test files; `file-ended.ts` writes it. */
const finishedFiles = (local: string): number =>
  statSync(join(local, 'ended'), { throwIfNoEntry: false })?.size ?? 0;

/**
 * Provides a folder. The platform starts in it, in the background, when the first test file needs it. It stops after the
 * last test file of the portal, because the tests of other projects need the CPU time.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const local = await mkdtemp(join(tmpdir(), 'portal-stack-'));
  await chmod(local, 0o755);
  const { testFiles } = await project.globTestFiles();
  let prepared: Promise<StartedPlatform | undefined> | undefined;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => (await prepared)?.[Symbol.asyncDispose]();
  const timer = setInterval(() => {
    if (existsSync(join(local, 'wanted'))) prepared ??= prepare(local);
    if (finishedFiles(local) === testFiles.length) stopped ??= stop();
  }, 50);
  project.provide('localFolder', local);
  return async () => {
    clearInterval(timer);
    await (stopped ??= stop());
    await rm(local, { recursive: true, force: true });
  };
};
