import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createLru } from '../process/lru.ts';

export interface LimiterOptions {
  redis: Redis | undefined;
  /** Start of the keys in Redis, for example `task-manager:login-network`. */
  prefix: string;
  /** Points for each key before it is refused. */
  points: number;
  /** How long a count lasts from its first point. */
  seconds: number;
}

/** Counts by key, shared through Redis; while Redis is away each process counts in its own memory. */
const createLimiter = ({ redis, prefix, points, seconds }: LimiterOptions) => {
  const window = { keyPrefix: prefix, points, duration: seconds };
  const memory = new RateLimiterMemory(window);
  return redis === undefined
    ? memory
    : new RateLimiterRedis({
        ...window,
        storeClient: redis,
        insuranceLimiter: memory,
        rejectIfRedisNotReady: true,
      });
};

export interface RateCounterOptions {
  redis: Redis | undefined;
  /** Prefix of the keys in Redis, for example `wallet-operator:rate`. */
  name: string;
  /** Points a minute for each key. */
  perMinute: number;
}

export interface BatchedRateCounter {
  /** Takes a point from a key that may use `perMinute` times `factor`. At once when that needs no round trip. */
  take(key: string, factor?: number): Count | Promise<Count>;
  /** Takes more points for a request that was counted, without a round trip; undefined when its minute is over. */
  add(key: string, points: number): Count | undefined;
  /** The count of a key that this process knows to be over the limit; takes nothing. Undefined for any other key. */
  exceeded(key: string): Count | undefined;
}

/** The window of a limit by the minute. */
export const minuteOf = ({ redis, name, perMinute }: RateCounterOptions): LimiterOptions => ({
  redis,
  prefix: name,
  points: perMinute,
  seconds: 60,
});

/** Points that were taken from a key and are left in its current minute. */
export type Count = Pick<RateLimiterRes, 'consumedPoints' | 'remainingPoints' | 'msBeforeNext'>;

/** Takes points from a key. Resolves also when none are left. */
export type RateCounter = (key: string, points?: number) => Promise<Count>;

/** Counts without a limit of its own: the caller compares the count with one. */
export const createRateCounter = (options: LimiterOptions): RateCounter => {
  const limiter = createLimiter(options);
  return (key, points = 1) =>
    limiter.consume(key, points).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) return error;
      throw error;
    });
};

/** Share of the points left that a process may take before it asks Redis again. */
const share = 0.1;
/** Points older than this are settled beside the next request, which does not wait for it. */
const settleMs = 100;
const maxKeys = 10_000;

/** What this process knows of one key in the current minute. */
interface Window {
  /** Points taken by all processes as of the last settlement, and by this one since. */
  total: number;
  /** Points of this process that Redis does not know yet. */
  pending: number;
  /** How many points may be pending. */
  allowance: number;
  /** Points in a minute. */
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
export const createBatchedRateCounter = (options: RateCounterOptions): BatchedRateCounter => {
  const count = createRateCounter(minuteOf(options));
  const { perMinute } = options;
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

  const countOf = ({ total, most, endsAt }: Window, now: number): Count => ({
    consumedPoints: total,
    remainingPoints: Math.max(0, most - total),
    msBeforeNext: endsAt - now,
  });

  return {
    take: (key, factor = 1) => {
      const now = performance.now();
      const known = windows.get(key);
      if (known === undefined || known.endsAt <= now) {
        const most = perMinute * factor;
        const window = { total: 1, pending: 1, allowance: 0, most, settledAt: now, endsAt: now + 60_000 };
        windows.set(key, window);
        return settle(key, window);
      }
      if (known.total <= known.most) {
        known.total++;
        known.pending++;
        if (known.pending > known.allowance) return settle(key, known);
        // Without an answer these points are not shared; the next settlement asks again.
        if (now - known.settledAt > settleMs) settle(key, known).catch(() => undefined);
      }
      return countOf(known, now);
    },
    add: (key, points) => {
      const now = performance.now();
      const known = windows.peek(key);
      if (known === undefined || known.endsAt <= now) return undefined;
      known.total += points;
      known.pending += points;
      // As above: what is not shared now is shared by the next settlement.
      if (known.pending > known.allowance) settle(key, known).catch(() => undefined);
      return countOf(known, now);
    },
    exceeded: (key) => {
      const now = performance.now();
      const known = windows.peek(key);
      return known && known.endsAt > now && known.total > known.most ? countOf(known, now) : undefined;
    },
  };
};
