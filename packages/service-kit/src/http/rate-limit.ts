import type { ServerResponse } from 'node:http';
import { createBatchedCounter, type CounterOptions } from './counter.ts';
import { TooManyRequests } from './problem.ts';

/** Counts a request against `key`: a credential or a network. Throws TooManyRequests over the limit. */
export type RateLimit = (res: ServerResponse, key: string) => Promise<void>;

/** Requests a minute for each key. Headers as in draft-ietf-httpapi-ratelimit-headers. */
export const createRateLimit = (options: CounterOptions): RateLimit => {
  const count = createBatchedCounter(options);
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
