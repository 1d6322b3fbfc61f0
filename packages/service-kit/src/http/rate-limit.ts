import type { ServerResponse } from 'node:http';
import { createBatchedCounter, type Count, type CounterOptions } from './counter.ts';
import { TooManyRequests } from './problem.ts';

/**
 * Counts a request against `key`: a credential or a network. Throws TooManyRequests over the limit, or rejects with it
 * when Redis has to be asked first. Undefined when the process could decide without Redis.
 */
export type RateLimit = (res: ServerResponse, key: string) => Promise<void> | undefined;

/** Requests a minute for each key. Headers as in draft-ietf-httpapi-ratelimit-headers. */
export const createRateLimit = (options: CounterOptions): RateLimit => {
  const count = createBatchedCounter(options);
  const { perMinute } = options;
  const policy = `"default";q=${perMinute};w=60`;
  const check = (res: ServerResponse, { msBeforeNext, remainingPoints, consumedPoints }: Count): void => {
    const seconds = Math.ceil(msBeforeNext / 1000);
    const left = `"default";r=${remainingPoints};t=${seconds}`;
    res.limitHeaders = ['RateLimit-Policy', policy, 'RateLimit', left];
    if (consumedPoints > perMinute) throw new TooManyRequests(seconds);
  };
  return (res, key) => {
    const counted = count(key);
    if (counted instanceof Promise) return counted.then((settled) => check(res, settled));
    check(res, counted);
    return undefined;
  };
};
