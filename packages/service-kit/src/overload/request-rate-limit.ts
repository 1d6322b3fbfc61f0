import type {} from '../http/message-fields.ts';
import type { ServerResponse } from 'node:http';
import { createBatchedRateCounter, type Count, type RateCounterOptions } from './rate-counter.ts';
import type { Network } from '../http/network.ts';
import { TooManyRequests } from '../http/problem.ts';

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
