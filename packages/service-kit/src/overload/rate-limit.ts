import type { ServerResponse } from 'node:http';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Network } from '../http/network.ts';
import { TooManyRequests } from '../http/problem.ts';
import { createLru } from '../process/lru.ts';

export interface RateCounterOptions {
  redis: Redis | undefined;
  /** Start of the keys in Redis, for example `task-manager:login-network`. */
  prefix: string;
  /** Points that each key may take in a window. */
  points: number;
  /** Length of a window, which starts with its first point. */
  seconds: number;
}

/** Points taken and left in the current window of a key. */
export type Count = Pick<RateLimiterRes, 'consumedPoints' | 'remainingPoints' | 'msBeforeNext'>;

/**
 * Creates a function that takes points from a key. It resolves even if none are left; the caller compares the count with a
 * limit. Counts are shared through Redis; while Redis is unavailable, each process counts in its own memory.
 */
export const createRateCounter = ({ redis, prefix, points, seconds }: RateCounterOptions) => {
  const window = { keyPrefix: prefix, points, duration: seconds };
  const memory = new RateLimiterMemory(window);
  const limiter =
    redis === undefined
      ? memory
      : new RateLimiterRedis({
          ...window,
          storeClient: redis,
          insuranceLimiter: memory,
          rejectIfRedisNotReady: true,
        });
  return (key: string, taken = 1): Promise<Count> =>
    limiter.consume(key, taken).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) return error;
      throw error;
    });
};

/** Share of the remaining points that a process may take before it asks Redis again. */
const share = 0.1;
/** If the last settlement is older than this, the next request starts one without waiting for it. */
const settleMs = 100;
const maxKeys = 10_000;

/** The current window of a key in this process. */
interface Window {
  /** Points taken by all processes until the last settlement, plus those of this process since then. */
  total: number;
  /** Points of this process that Redis does not know yet. */
  pending: number;
  /** Maximum of `pending`. */
  allowance: number;
  /** Maximum points in the window. */
  max: number;
  settledAt: number;
  endsAt: number;
}

/**
 * Like `createRateCounter`, but with far fewer round trips to Redis: a process takes up to a tenth of the remaining points
 * locally and then settles them together. N processes may exceed the limit by N − 1 tenths, a single process never does. If a
 * tenth is less than one point, each request is settled. A key that is over its limit is refused without asking Redis.
 */
export const createBatchedRateCounter = (options: RateCounterOptions) => {
  const count = createRateCounter(options);
  const windows = createLru<string, Window>(maxKeys);

  const settle = async (key: string, window: Window): Promise<Count> => {
    const points = window.pending;
    window.pending = 0;
    window.settledAt = performance.now();
    const { consumedPoints, msBeforeNext } = await count(key, points);
    window.total = consumedPoints + window.pending;
    window.allowance = Math.floor((window.max - consumedPoints) * share);
    window.endsAt = performance.now() + msBeforeNext;
    return { consumedPoints, remainingPoints: Math.max(0, window.max - consumedPoints), msBeforeNext };
  };
  // If it fails, these points are not shared; the next settlement tries again.
  const settleLater = (key: string, window: Window): void => void settle(key, window).catch(() => undefined);

  const countOf = ({ total, max, endsAt }: Window, now: number): Count => ({
    consumedPoints: total,
    remainingPoints: Math.max(0, max - total),
    msBeforeNext: endsAt - now,
  });
  const currentOf = (window: Window | undefined, now: number): Window | undefined =>
    window !== undefined && window.endsAt > now ? window : undefined;
  const openWindow = (key: string, factor: number, now: number): Window => {
    const max = options.points * factor;
    const endsAt = now + options.seconds * 1000;
    const window = { total: 0, pending: 0, allowance: 0, max, settledAt: now, endsAt };
    windows.set(key, window);
    return window;
  };

  return {
    /** Takes a point from a key whose limit is `points` × `factor`. Synchronous if it needs no round trip. */
    take: (key: string, factor = 1): Count | Promise<Count> => {
      const now = performance.now();
      const window = currentOf(windows.get(key), now) ?? openWindow(key, factor, now);
      if (window.total <= window.max) {
        window.total++;
        window.pending++;
        if (window.pending > window.allowance) return settle(key, window);
        if (now - window.settledAt > settleMs) settleLater(key, window);
      }
      return countOf(window, now);
    },
    /** Takes further points for a request that was already counted, without a round trip; undefined if its window has ended. */
    add: (key: string, points: number): Count | undefined => {
      const now = performance.now();
      const window = currentOf(windows.peek(key), now);
      if (window === undefined) return undefined;
      window.total += points;
      window.pending += points;
      if (window.pending > window.allowance) settleLater(key, window);
      return countOf(window, now);
    },
    /** The count of a key that this process knows to be over its limit, else undefined. Takes no points. */
    exceeded: (key: string): Count | undefined => {
      const now = performance.now();
      const window = currentOf(windows.peek(key), now);
      return window && window.total > window.max ? countOf(window, now) : undefined;
    },
  };
};

export type RequestRateLimit = ReturnType<typeof createRequestRateLimit>;

/**
 * Creates the rate limit of requests. A request counts for its credential (with the factor 1), or for the networks of its
 * client, narrowest first. Over the limit it throws TooManyRequests. Each count sets the headers of
 * draft-ietf-httpapi-ratelimit-headers on `res`.
 */
export const createRequestRateLimit = (options: RateCounterOptions) => {
  const { points, seconds } = options;
  const counter = createBatchedRateCounter(options);
  const policyOf = (factor: number): string => `"default";q=${points * factor};w=${seconds}`;
  const policy = policyOf(1);

  const secondsOf = ({ msBeforeNext }: Count): number => Math.ceil(msBeforeNext / 1000);
  const setHeaders = (res: ServerResponse, count: Count, factor: number): void => {
    res.limitHeaders = [
      'RateLimit-Policy',
      factor === 1 ? policy : policyOf(factor),
      'RateLimit',
      `"default";r=${count.remainingPoints};t=${secondsOf(count)}`,
    ];
  };
  /** Sets the headers, those of a wider network only if it is over its limit. Throws over the limit. */
  const report = (res: ServerResponse, count: Count, factor = 1): void => {
    const isOverLimit = count.consumedPoints > points * factor;
    if (factor === 1 || isOverLimit) setHeaders(res, count, factor);
    if (isOverLimit) throw new TooManyRequests(secondsOf(count));
  };

  /**
   * Counts a request for each key until one is over its limit. Returns a promise if Redis must be asked, which rejects over the
   * limit; otherwise decides synchronously and throws or returns undefined.
   */
  const count = (
    res: ServerResponse,
    [narrowest, ...wider]: readonly Network[],
  ): Promise<void> | undefined => {
    if (narrowest === undefined) return undefined;
    const { name, factor } = narrowest;
    const counted = counter.take(name, factor);
    if (counted instanceof Promise)
      return counted.then((settled) => {
        report(res, settled, factor);
        return count(res, wider);
      });
    report(res, counted, factor);
    return count(res, wider);
  };

  return {
    count,
    /** Adds points for a request that was already counted, for example because its response is large. Never throws. */
    add: (res: ServerResponse, keys: readonly Network[], extraPoints: number): void => {
      for (const { name, factor } of keys) {
        const added = counter.add(name, extraPoints);
        if (added !== undefined && factor === 1) setHeaders(res, added, factor);
      }
    },
    /** Throws TooManyRequests for a credential that this process knows to be over its limit. Counts nothing. */
    check: (res: ServerResponse, name: string): void => {
      const exceeded = counter.exceeded(name);
      if (exceeded !== undefined) report(res, exceeded);
    },
  };
};
