import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../src/history/sender.ts';

interface Sleeper {
  until: number;
  wake(): void;
}

/** A clock that advances only when all tasks sleep, so simulated minutes take only as long as their computation. */
export const createVirtualClock = (): Clock & { run<T>(work: () => Promise<T>): Promise<T> } => {
  let now = 0;
  /** Ordered by `until`, the earliest last. */
  const sleepers: Sleeper[] = [];
  const wakeNext = (): void => {
    const next = sleepers.pop();
    if (next === undefined) throw new Error('no task sleeps: all wait for something other than the clock');
    now = next.until;
    next.wake();
  };
  return {
    now: () => now,
    sleep: (ms) =>
      new Promise<void>((wake) => {
        const until = now + ms;
        const index = sleepers.findIndex((other) => other.until <= until);
        sleepers.splice(index === -1 ? sleepers.length : index, 0, { until, wake });
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
