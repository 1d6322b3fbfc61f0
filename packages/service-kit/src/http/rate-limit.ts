import type { ServerResponse } from 'node:http';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { TooManyRequests } from './problem.ts';

/** Counts a request against `key`, else against the client's address; throws TooManyRequests. */
export type RateLimit = (
  req: { ip?: string | undefined },
  res: ServerResponse,
  key: string | undefined,
) => Promise<void>;

interface RateLimitOptions {
  /** Prefix of the keys: the service's name. */
  name: string;
  redis: Redis | undefined;
  perMinute: number;
}

/**
 * Requests a minute for each credential or address, shared by all instances through Redis. While
 * Redis is away each process counts for itself. Headers as in draft-ietf-httpapi-ratelimit-headers.
 */
export const createRateLimit = ({ name, redis, perMinute }: RateLimitOptions): RateLimit => {
  const window = { points: perMinute, duration: 60, keyPrefix: `${name}:rate` };
  const memory = new RateLimiterMemory(window);
  const limiter = redis
    ? new RateLimiterRedis({
        ...window,
        storeClient: redis,
        insuranceLimiter: memory,
        rejectIfRedisNotReady: true,
      })
    : memory;
  return async (req, res, key) => {
    const outcome = await limiter.consume(key ? `k:${key}` : `a:${req.ip}`).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) return error;
      throw error;
    });
    const seconds = Math.ceil(outcome.msBeforeNext / 1000);
    res.setHeader('RateLimit-Policy', `"default";q=${perMinute};w=60`);
    res.setHeader('RateLimit', `"default";r=${outcome.remainingPoints};t=${seconds}`);
    if (outcome.consumedPoints > perMinute) throw new TooManyRequests(seconds);
  };
};
