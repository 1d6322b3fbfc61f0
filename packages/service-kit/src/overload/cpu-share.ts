import { AsyncLocalStorage } from 'node:async_hooks';
import { createFairQueue } from './fair-queue.ts';

export interface CpuShareOptions {
  /** The share of the time of the main thread that the work may take, from 0 to 1. */
  share: number;
  /** Time that the work may take at once after a pause, in ms. */
  burstMs?: number;
  now?: () => number;
}

export type CpuShare = ReturnType<typeof createCpuShare>;

/**
 * Creates a runner of synchronous work that can take milliseconds, such as parsing a large body. Work starts at once while all of
 * it takes less than its share of the main thread. Beyond that it waits, and groups take turns: a group that causes much work
 * delays itself, and all requests without such work stay fast.
 */
export const createCpuShare = ({
  share,
  burstMs = 20,
  now = performance.now.bind(performance),
}: CpuShareOptions) => {
  const waiting = createFairQueue<() => void>();
  let leftMs = burstMs;
  let countedAt = now();
  let timer: NodeJS.Timeout | undefined;

  const count = (usedMs: number): void => {
    const at = now();
    leftMs = Math.min(burstMs, leftMs + (at - countedAt) * share) - usedMs;
    countedAt = at;
  };
  const runCounted = <T>(work: () => T): T => {
    const start = now();
    try {
      return work();
    } finally {
      count(now() - start);
    }
  };
  const runWaiting = (): void => {
    timer = undefined;
    count(0);
    while (leftMs > 0 && waiting.size > 0) waiting.shift()?.();
    if (waiting.size > 0) timer = setTimeout(runWaiting, Math.ceil(-leftMs / share));
  };
  /**
   * Runs `work` in the turn of its group, for example the id of a store. Only the time until `work` returns counts, also if it
   * returns a promise. Rejects with what `work` throws.
   */
  return async <T>(group: string, work: () => T | Promise<T>): Promise<T> => {
    count(0);
    if (leftMs > 0 && waiting.size === 0) return runCounted(work);
    const inContextOfCaller = AsyncLocalStorage.snapshot();
    return new Promise<T>((resolve, reject) => {
      const start = (): void => {
        try {
          resolve(runCounted(work));
        } catch (error) {
          reject(error);
        }
      };
      waiting.push([group], () => inContextOfCaller(start));
      timer ??= setTimeout(runWaiting, Math.ceil(Math.max(0, -leftMs) / share));
    });
  };
};
