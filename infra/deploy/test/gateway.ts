import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAfterExit } from '@platform/local/kill-after-exit';
import { testLimits } from '@platform/local/test-limits';
import { inherited } from './env.ts';

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Starts nginx, or a script that starts it, with these arguments, and waits until it responds at the address.
 * @throws with its output if it ends
 */
export const runNginx = async (
  program: string | null,
  args: readonly string[],
  url: string,
  user?: number,
  env: Record<string, string> = {},
) => {
  if (program === null) throw new Error('nginx is not installed on this machine');
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'nginx-output-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // The user must own the output file, because nginx reopens /dev/stdout. In a container the runtime ensures this.
  const output = stack.use(await open(join(home, 'output'), 'w'));
  if (user) await output.chown(user, user);
  const child = spawn(program, args, {
    cwd: '/',
    env: { ...inherited, ...env },
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
    ...(user && { uid: user, gid: user }),
  });
  killAfterExit(child);
  const exited = once(child, 'exit');
  stack.defer(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  for (const deadline = Date.now() + testLimits.expect.poll.timeout; !(await isReady(url));) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`nginx ended: ${await readFile(join(home, 'output'), 'utf8')}`);
    if (Date.now() > deadline) throw new Error(`nginx does not respond at ${url}`);
    await sleep(10);
  }
  const resources = stack.move();
  return { url, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
