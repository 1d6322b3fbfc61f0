import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAfterExit } from '@platform/local/kill-after-exit';
import { testLimits } from '@platform/local/test-limits';
import { inherited } from './env.ts';

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * nginx, or a script that becomes it, with these arguments, once it answers at the address.
 * @throws with what it said when it ends instead
 */
export const runNginx = async (
  program: string | null,
  args: readonly string[],
  url: string,
  user?: number,
  env: Record<string, string> = {},
) => {
  if (program === null) throw new Error('there is no nginx on this machine');
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'nginx-output-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // A file of the user's own, as nginx opens /dev/stdout again: what a container's runtime sees to.
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
  for (const giveUp = Date.now() + testLimits.expect.poll.timeout; !(await answers(url));) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`nginx ended: ${await readFile(join(home, 'output'), 'utf8')}`);
    if (Date.now() > giveUp) throw new Error(`nginx does not answer at ${url}`);
    await sleep(10);
  }
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};
