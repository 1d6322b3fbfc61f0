import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from './stack.ts';

const RESTART_MS = 60_000;

/** Kills a program with SIGKILL, and waits until it runs again and the whole stack is ready. */
const crash = async (stack: Stack, name: string): Promise<void> => {
  const before = (await stack.pids())[name];
  if (!before) throw new Error(`${name} does not run`);
  process.kill(before, 'SIGKILL');
  const giveUp = Date.now() + RESTART_MS;
  for (let now = before; now === before || !now; now = (await stack.pids())[name] ?? 0) {
    if (Date.now() > giveUp) throw new Error(`${name} was not restarted`);
    await sleep(100);
  }
  await stack.ready();
};

/**
 * Kills every program in turn until the time `until` (ms since 1970), each at least once, with a pause of `calm` ms.
 * @returns how often each was killed
 */
export const crashInTurn = async (
  stack: Stack,
  until: number,
  calm: number,
): Promise<Record<string, number>> => {
  const crashes: Record<string, number> = {};
  do {
    for (const name of Object.keys(await stack.pids())) {
      if (Date.now() > until && crashes[name]) continue;
      await sleep(calm);
      await crash(stack, name);
      crashes[name] = (crashes[name] ?? 0) + 1;
    }
  } while (Date.now() < until);
  return crashes;
};
