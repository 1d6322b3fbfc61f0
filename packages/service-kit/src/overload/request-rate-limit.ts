import type {} from '../http/message-fields.ts';
import type { ServerResponse } from 'node:http';
import { createBatchedRateCounter, type Count, type RateCounterOptions } from './rate-counter.ts';
import type { Network } from '../http/network.ts';
import { TooManyRequests } from '../http/problem.ts';

/** Limits requests a minute. What it refuses throws TooManyRequests; every count sets the RateLimit headers of `res`. */
export interface RequestRateLimit {
  /**
   * Counts a request against `key`, for example a credential. Rejects instead of throwing when Redis has to be asked
   * first; undefined when the process could decide without Redis.
   */
  count(res: ServerResponse, key: string): Promise<void> | undefined;
  /** Counts a request against the networks of its client, the narrowest first. What one refuses, no wider one counts. */
  countNetworks(res: ServerResponse, networks: readonly Network[]): Promise<void> | undefined;
  /** Refuses a key that this process knows to be over its limit; counts nothing. */
  check(res: ServerResponse, key: string): void;
}

/** Requests a minute for each key. Headers as in draft-ietf-httpapi-ratelimit-headers. */
export const createRequestRateLimit = (options: RateCounterOptions): RequestRateLimit => {
  const counter = createBatchedRateCounter(options);
  const policy = `"default";q=${options.perMinute};w=60`;

  /** Sets the headers; those of a wider network only when it refuses. */
  const report = (res: ServerResponse, count: Count, factor = 1): void => {
    const most = options.perMinute * factor;
    const isOver = count.consumedPoints > most;
    const seconds = Math.ceil(count.msBeforeNext / 1000);
    if (factor === 1 || isOver) {
      const left = `"default";r=${count.remainingPoints};t=${seconds}`;
      res.limitHeaders = [
        'RateLimit-Policy',
        factor === 1 ? policy : `"default";q=${most};w=60`,
        'RateLimit',
        left,
      ];
    }
    if (isOver) throw new TooManyRequests(seconds);
  };

  const count = (res: ServerResponse, key: string, factor?: number): Promise<void> | undefined => {
    const counted = counter.take(key, factor);
    if (counted instanceof Promise) return counted.then((settled) => report(res, settled, factor));
    report(res, counted, factor);
    return undefined;
  };

  const countNetworks: RequestRateLimit['countNetworks'] = (res, [network, ...wider]) => {
    if (network === undefined) return undefined;
    const counting = count(res, `a:${network.name}`, network.factor);
    return counting === undefined
      ? countNetworks(res, wider)
      : counting.then(() => countNetworks(res, wider));
  };

  return {
    count,
    countNetworks,
    check: (res, key) => {
      const exceeded = counter.exceeded(key);
      if (exceeded !== undefined) report(res, exceeded);
    },
  };
};
