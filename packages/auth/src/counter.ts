import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { TooManyRequests } from '@platform/service-kit/problem';

export interface CounterOptions {
  redis: Redis | undefined;
  /** Start of the Redis keys, for example `task-manager:login-network`. */
  prefix: string;
  /** How much may be counted for one key before it is refused. */
  points: number;
  /** How long a count lasts from its first point. */
  seconds: number;
}

/** Counts by key, shared through Redis; while Redis is unavailable each process counts in its memory. */
export const createCounter = ({ redis, prefix, points, seconds }: CounterOptions) => {
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

export type Counter = ReturnType<typeof createCounter>;

/**
 * Counts `cost` points for a key in one atomic step and returns how many points are left. When there
 * are too few left, throws what `refused` makes of the seconds until the count ends.
 */
export const consume = async (
  counter: Counter,
  key: string,
  cost: number,
  refused: (seconds: number) => TooManyRequests,
): Promise<number> => {
  try {
    return (await counter.consume(key, cost)).remainingPoints;
  } catch (error) {
    throw error instanceof RateLimiterRes ? refused(error.msBeforeNext / 1000) : error;
  }
};
