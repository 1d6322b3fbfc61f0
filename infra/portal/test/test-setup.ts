import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import type { DemoCredentials } from '../src/site/demo.ts';
import { lastCode, openDemo } from './demo-code.ts';
import { baseEnv } from './env.ts';

/** What the tests need of a stack.json. */
export interface Stack {
  gateway: string | null;
  services: Record<string, { pid: number }>;
  demo: {
    adminToken: string;
    consignmentsToken: string;
    questId: string;
    store: { id: string; webhookToken: string };
    wallet: { hmacSecret: string };
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The running stack; its gateway is null where there is no nginx. */
    stack: Stack;
    /** Credentials of the demo, as the portal gets them; null without a gateway. */
    demo: DemoCredentials | null;
    /** File with what `start` prints: the codes that open the demo. */
    printed: string;
  }
}

const script = join(import.meta.dirname, '../../local/src/start.ts');
const limitMs = 150_000;
const printedFile = 'printed';

/** A stack of its own, on ports that lie where the system gives none away. */
const start = async (local: string): Promise<ChildProcess> => {
  const base = 32_000 - 200 * Math.floor(Math.random() * 50);
  const child = spawn(process.execPath, [script, '--local', local, '--no-install'], {
    env: { ...baseEnv(), PORT_BASE: String(base), GATEWAY_PORT: String(base + 99), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = join(local, printedFile);
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => appendFileSync(printed, chunk));
  for (const end = Date.now() + limitMs; ; await sleep(100)) {
    const said = await readFile(printed, 'utf8').catch(() => '');
    if (said.includes('everything is ready')) return child;
    if (child.exitCode !== null || Date.now() > end) {
      child.kill('SIGTERM');
      throw new Error(`the stack did not come up:\n${said}`);
    }
  }
};

/** The whole platform, as `start` brings it up, for all tests of the portal. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const local = await mkdtemp(join(tmpdir(), 'portal-stack-'));
  await chmod(local, 0o755);
  const child = await start(local).catch(() => start(local));
  const stack = JSON.parse(await readFile(join(local, 'stack.json'), 'utf8')) as Stack;
  const printed = join(local, printedFile);
  project.provide('stack', stack);
  project.provide('printed', printed);
  project.provide(
    'demo',
    stack.gateway === null ? null : await openDemo(stack.gateway, await lastCode(printed)),
  );
  return async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    await rm(local, { recursive: true, force: true });
  };
};
