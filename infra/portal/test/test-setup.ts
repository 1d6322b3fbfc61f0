import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePortBase } from '@platform/local/ports';
import type { TestProject } from 'vitest/node';
import { lastCode, openDemo } from './demo-code.ts';
import { baseEnv } from './env.ts';
import type { Prepared, Stack } from './stack.ts';

const script = join(import.meta.dirname, '../../local/src/start.ts');
const limitMs = 300_000;

/** Starts the platform. */
const start = async (local: string, printed: string): Promise<ChildProcess> => {
  const base = await freePortBase();
  const child = spawn(process.execPath, [script, '--local', local, '--no-install'], {
    env: {
      ...baseEnv(),
      PORT_BASE: String(base),
      GATEWAY_PORT: String(base + 99),
      LOG_LEVEL: 'warn',
      // The page of cross-origin.test.ts.
      CORS_ORIGINS: `http://127.0.0.1:${base + 98}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => appendFileSync(printed, chunk));
  for (const end = Date.now() + limitMs; ; await sleep(100)) {
    const output = await readFile(printed, 'utf8').catch(() => '');
    if (output.includes('everything is ready')) return child;
    if (child.exitCode !== null || Date.now() > end) {
      child.kill('SIGTERM');
      throw new Error(`the platform did not start:\n${output}`);
    }
  }
};

/** Starts the platform and writes what the tests need, or the error, into the folder. */
const prepare = async (local: string): Promise<ChildProcess | undefined> => {
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(local, `${name}.new`), text);
    await rename(join(local, `${name}.new`), join(local, name));
  };
  const printed = join(local, 'printed');
  try {
    const child = await start(local, printed);
    const stack = JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack;
    const demo = stack.gateway === null ? null : await openDemo(stack.gateway, await lastCode(printed));
    await write('prepared.json', JSON.stringify({ stack, demo, printed } satisfies Prepared));
    return child;
  } catch (error) {
    await write('failed', String(error));
    return undefined;
  }
};

/** Provides a folder; the whole platform starts in it, in the background, when the first test wants it. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const local = await mkdtemp(join(tmpdir(), 'portal-stack-'));
  await chmod(local, 0o755);
  let prepared: Promise<ChildProcess | undefined> | undefined;
  const timer = setInterval(() => {
    if (existsSync(join(local, 'wanted'))) prepared ??= prepare(local);
  }, 50);
  project.provide('localFolder', local);
  return async () => {
    clearInterval(timer);
    const child = await prepared;
    child?.kill('SIGTERM');
    if (child?.exitCode === null) await once(child, 'exit');
    await rm(local, { recursive: true, force: true });
  };
};
