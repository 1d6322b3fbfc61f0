import type { ServerResponse } from 'node:http';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { TooManyRequests } from './problem.ts';

export interface CounterOptions {
  redis: Redis | undefined;
  /** Prefix of the keys in Redis, for example `wallet-operator:rate`. */
  name: string;
  /** Points a minute for each key. */
  perMinute: number;
}

/** Takes a point from a key; resolves with what is left also when nothing is. */
export type Counter = (key: string) => Promise<RateLimiterRes>;

/** A counter that all instances share through Redis; while Redis is away each process counts for itself. */
export const createCounter = ({ redis, name, perMinute }: CounterOptions): Counter => {
  const window = { points: perMinute, duration: 60, keyPrefix: name };
  const memory = new RateLimiterMemory(window);
  const limiter = redis
    ? new RateLimiterRedis({
        ...window,
        storeClient: redis,
        insuranceLimiter: memory,
        rejectIfRedisNotReady: true,
      })
    : memory;
  return (key) =>
    limiter.consume(key).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) return error;
      throw error;
    });
};

/** Counts a request against `key`: a credential or a network. Throws TooManyRequests over the limit. */
export type RateLimit = (res: ServerResponse, key: string) => Promise<void>;

/** Requests a minute for each key. Headers as in draft-ietf-httpapi-ratelimit-headers. */
export const createRateLimit = (options: CounterOptions): RateLimit => {
  const count = createCounter(options);
  const { perMinute } = options;
  const policy = `"default";q=${perMinute};w=60`;
  return async (res, key) => {
    const { msBeforeNext, remainingPoints, consumedPoints } = await count(key);
    const seconds = Math.ceil(msBeforeNext / 1000);
    const left = `"default";r=${remainingPoints};t=${seconds}`;
    res.limitHeaders = ['RateLimit-Policy', policy, 'RateLimit', left];
    if (consumedPoints > perMinute) throw new TooManyRequests(seconds);
  };
};
