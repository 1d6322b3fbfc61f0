import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../src/history/sender.ts';

interface Sleeper {
  until: number;
  wake(): void;
}

/** A clock on which time passes only while everybody sleeps, so that a run of minutes takes no longer than its work. */
export const createVirtualClock = (): Clock & { run<T>(work: () => Promise<T>): Promise<T> } => {
  let now = 0;
  /** By time, the next one last. */
  const sleepers: Sleeper[] = [];
  const wakeNext = (): void => {
    const next = sleepers.pop();
    if (next === undefined) throw new Error('everybody waits for something else than time');
    now = next.until;
    next.wake();
  };
  return {
    now: () => now,
    sleep: (ms) =>
      new Promise<void>((wake) => {
        const until = now + ms;
        const place = sleepers.findIndex((other) => other.until <= until);
        sleepers.splice(place === -1 ? sleepers.length : place, 0, { until, wake });
      }),
    run: async (work) => {
      let isOver = false;
      const result = work().finally(() => (isOver = true));
      for (;;) {
        await setImmediate();
        if (isOver) return result;
        wakeNext();
      }
    },
  };
};
