import { appendFileSync, existsSync, statSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { platformPorts, startPlatform, type StartedPlatform } from '@platform/local/platform';
import type { TestProject } from 'vitest/node';
import { lastCode, openDemo } from './demo-code.ts';
import type { Prepared, Stack } from './stack.ts';

/** Starts the platform. */
const start = async (local: string, printed: string): Promise<StartedPlatform> => {
  const ports = await platformPorts();
  const platform = startPlatform({
    local,
    args: ['--no-install'],
    // The page of cross-origin.test.ts.
    env: { ...ports, LOG_LEVEL: 'warn', CORS_ORIGINS: `http://127.0.0.1:${Number(ports.GATEWAY_PORT) - 1}` },
    onOutput: (text) => appendFileSync(printed, text),
  });
  await platform.ready();
  return platform;
};

/** Starts the platform and writes what the tests need, or the error, into the folder. */
const prepare = async (local: string): Promise<StartedPlatform | undefined> => {
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(local, `${name}.new`), text);
    await rename(join(local, `${name}.new`), join(local, name));
  };
  const printed = join(local, 'printed');
  try {
    const platform = await start(local, printed);
    const stack = JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack;
    const demo = stack.gateway === null ? null : await openDemo(stack.gateway, await lastCode(printed));
    await write('prepared.json', JSON.stringify({ stack, demo, printed } satisfies Prepared));
    return platform;
  } catch (error) {
    await write('failed', String(error));
    return undefined;
  }
};

/** How many test files have ended; `file-ended.ts` writes it. */
const endedFiles = (local: string): number =>
  statSync(join(local, 'ended'), { throwIfNoEntry: false })?.size ?? 0;

/**
 * Provides a folder; the whole platform starts in it, in the background, when the first test wants it. It stops after
 * the last test file of the portal, since the tests of other projects need its processor time.
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
    if (endedFiles(local) === testFiles.length) stopped ??= stop();
  }, 50);
  project.provide('localFolder', local);
  return async () => {
    clearInterval(timer);
    await (stopped ??= stop());
    await rm(local, { recursive: true, force: true });
  };
};
