import type { Redis } from 'ioredis';
import { createLimiter } from '@platform/service-kit/counter';
import { TooManyRequests } from '@platform/service-kit/problem';
import { consume } from './consume.ts';

export interface BackoffOptions {
  redis: Redis | undefined;
  /** Start of the Redis keys. */
  prefix: string;
  /** Failures before the first wait. */
  free: number;
  /** Attempts between two waits after the first one; must divide `free`. */
  retries: number;
  /** Called when a wait starts. */
  onWait: (key: string, seconds: number) => void;
}

/** Makes a key that fails too often wait, longer each time. All methods that refuse throw TooManyRequests. */
export interface Backoff {
  /** Refuses a key that must wait. */
  check: (key: string) => Promise<void>;
  /**
   * Counts an attempt as failed before its outcome is known, so that concurrent attempts can't all
   * pass. Returns a function that takes the count back. Refuses when the key has no attempts left.
   */
  count: (key: string) => Promise<() => Promise<unknown>>;
  /** Forgets the failures and waits of a key. */
  clear: (key: string) => Promise<void>;
}

const day = 86_400;
const firstWait = 60;
const longestWait = 3600;

/** Seconds of the n-th wait, counted from 1: 1, 2, 4 … 32 minutes, then an hour each. */
const waitSeconds = (n: number): number => Math.min(firstWait * 2 ** (n - 1), longestWait);

const refused = (seconds: number) => new TooManyRequests(seconds, 'Too many failed logins; try again later.');

/** Counts last a day, so a key that stops failing starts from zero a day after its first wait. */
export const createBackoff = ({ redis, prefix, free, retries, onWait }: BackoffOptions): Backoff => {
  const failures = createLimiter({ redis, prefix: `${prefix}:failures`, points: free, seconds: day });
  const waits = createLimiter({ redis, prefix: `${prefix}:waits`, points: day, seconds: day });

  return {
    check: async (key) => {
      const found = await failures.get(key);
      if (found !== null && found.consumedPoints > free) throw refused(found.msBeforeNext / 1000);
    },
    count: async (key) => {
      const waited = (await waits.get(key))?.consumedPoints ?? 0;
      const next = waitSeconds(waited + 1);
      const cost = waited === 0 ? 1 : free / retries;
      // A concurrent attempt may have used up the points and not yet started the wait.
      const left = await consume(failures, key, cost, (seconds) => refused(Math.min(seconds, next)));
      if (left > 0) return () => failures.reward(key, cost);
      // This was the last attempt: the wait starts now, in case the process dies before the outcome is known.
      await Promise.all([waits.penalty(key), failures.block(key, next)]);
      onWait(key, next);
      return () => Promise.all([waits.reward(key), failures.set(key, free - cost, day)]);
    },
    clear: async (key) => {
      await Promise.all([failures.delete(key), waits.delete(key)]);
    },
  };
};
