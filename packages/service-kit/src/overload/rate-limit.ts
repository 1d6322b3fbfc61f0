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
  /** Points for each key before it is refused. */
  points: number;
  /** How long a count lasts from its first point. */
  seconds: number;
}

/** Points that were taken from a key and are left in its current window. */
export type Count = Pick<RateLimiterRes, 'consumedPoints' | 'remainingPoints' | 'msBeforeNext'>;

/**
 * Makes a function that takes points from a key, and resolves also when none are left. Counts are shared through Redis;
 * while Redis is away each process counts in its own memory. The caller compares the count with a limit.
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

/** Share of the points left that a process may take before it asks Redis again. */
const share = 0.1;
/** Points older than this are settled beside the next request, which does not wait for it. */
const settleMs = 100;
const maxKeys = 10_000;

/** What this process knows of one key. */
interface Window {
  /** Points taken by all processes as of the last settlement, and by this one since. */
  total: number;
  /** Points of this process that Redis does not know yet. */
  pending: number;
  /** How many points may be pending. */
  allowance: number;
  /** Points until it ends. */
  most: number;
  settledAt: number;
  endsAt: number;
}

/**
 * Counts as `createRateCounter`, with far fewer round trips to Redis: a process takes up to a tenth of the points left
 * by itself and then settles them together. N processes let through at most N − 1 tenths of the limit too many, one
 * process none. A small limit, of which a tenth is less than one point, is settled with each request; a key that is
 * over its limit is refused without asking.
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
    window.allowance = Math.floor((window.most - consumedPoints) * share);
    window.endsAt = performance.now() + msBeforeNext;
    return { consumedPoints, remainingPoints: Math.max(0, window.most - consumedPoints), msBeforeNext };
  };
  // Without an answer its points are not shared; the next settlement asks again.
  const settleLater = (key: string, window: Window): void => void settle(key, window).catch(() => undefined);

  const countOf = ({ total, most, endsAt }: Window, now: number): Count => ({
    consumedPoints: total,
    remainingPoints: Math.max(0, most - total),
    msBeforeNext: endsAt - now,
  });
  const currentOf = (window: Window | undefined, now: number): Window | undefined =>
    window !== undefined && window.endsAt > now ? window : undefined;
  const open = (key: string, factor: number, now: number): Window => {
    const most = options.points * factor;
    const endsAt = now + options.seconds * 1000;
    const window = { total: 0, pending: 0, allowance: 0, most, settledAt: now, endsAt };
    windows.set(key, window);
    return window;
  };

  return {
    /** Takes a point from a key that may use `points` times `factor`. At once when that needs no round trip. */
    take: (key: string, factor = 1): Count | Promise<Count> => {
      const now = performance.now();
      const window = currentOf(windows.get(key), now) ?? open(key, factor, now);
      if (window.total <= window.most) {
        window.total++;
        window.pending++;
        if (window.pending > window.allowance) return settle(key, window);
        if (now - window.settledAt > settleMs) settleLater(key, window);
      }
      return countOf(window, now);
    },
    /** Takes more points for a request that was counted, without a round trip; undefined when its window is over. */
    add: (key: string, points: number): Count | undefined => {
      const now = performance.now();
      const window = currentOf(windows.peek(key), now);
      if (window === undefined) return undefined;
      window.total += points;
      window.pending += points;
      if (window.pending > window.allowance) settleLater(key, window);
      return countOf(window, now);
    },
    /** The count of a key that this process knows to be over the limit; takes nothing. Undefined for any other key. */
    exceeded: (key: string): Count | undefined => {
      const now = performance.now();
      const window = currentOf(windows.peek(key), now);
      return window && window.total > window.most ? countOf(window, now) : undefined;
    },
  };
};

/** What `createRequestRateLimit` makes. */
export type RequestRateLimit = ReturnType<typeof createRequestRateLimit>;

/**
 * Limits requests in each window for each name. What it refuses throws TooManyRequests; every count sets the headers of
 * draft-ietf-httpapi-ratelimit-headers on `res`. A request counts against one credential (with the factor 1), or against the
 * networks of its client, the narrowest first.
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
  /** Sets the headers; those of a wider network only when it refuses. */
  const report = (res: ServerResponse, count: Count, factor = 1): void => {
    const isOver = count.consumedPoints > points * factor;
    if (factor === 1 || isOver) setHeaders(res, count, factor);
    if (isOver) throw new TooManyRequests(secondsOf(count));
  };

  /**
   * Counts a request; what one of `counted` refuses, no later one counts. Rejects instead of throwing when Redis has to be
   * asked first; undefined when the process could decide without Redis.
   */
  const count = (
    res: ServerResponse,
    [narrowest, ...wider]: readonly Network[],
  ): Promise<void> | undefined => {
    if (narrowest === undefined) return undefined;
    const { name, factor } = narrowest;
    const taken = counter.take(name, factor);
    if (taken instanceof Promise)
      return taken.then((settled) => {
        report(res, settled, factor);
        return count(res, wider);
      });
    report(res, taken, factor);
    return count(res, wider);
  };

  return {
    count,
    /** Counts a request that was counted before for `more`, because its answer is large. Refuses nothing. */
    add: (res: ServerResponse, counted: readonly Network[], more: number): void => {
      for (const { name, factor } of counted) {
        const added = counter.add(name, more);
        if (added !== undefined && factor === 1) setHeaders(res, added, factor);
      }
    },
    /** Refuses a credential that this process knows to be over its limit; counts nothing. */
    check: (res: ServerResponse, name: string): void => {
      const exceeded = counter.exceeded(name);
      if (exceeded !== undefined) report(res, exceeded);
    },
  };
};
