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
  /** Counts a request that was counted before for `more`, because its answer is large. Refuses nothing. */
  add(res: ServerResponse, key: string, more: number): void;
  addToNetworks(res: ServerResponse, networks: readonly Network[], more: number): void;
  /** Refuses a key that this process knows to be over its limit; counts nothing. */
  check(res: ServerResponse, key: string): void;
}

const networkKey = (name: string): string => `a:${name}`;

/** Requests a minute for each key. Headers as in draft-ietf-httpapi-ratelimit-headers. */
export const createRequestRateLimit = (options: RateCounterOptions): RequestRateLimit => {
  const counter = createBatchedRateCounter(options);
  const policy = `"default";q=${options.perMinute};w=60`;

  const secondsOf = ({ msBeforeNext }: Count): number => Math.ceil(msBeforeNext / 1000);
  const setHeaders = (res: ServerResponse, count: Count, factor: number): void => {
    res.limitHeaders = [
      'RateLimit-Policy',
      factor === 1 ? policy : `"default";q=${options.perMinute * factor};w=60`,
      'RateLimit',
      `"default";r=${count.remainingPoints};t=${secondsOf(count)}`,
    ];
  };
  /** Sets the headers; those of a wider network only when it refuses. */
  const report = (res: ServerResponse, count: Count, factor = 1): void => {
    const isOver = count.consumedPoints > options.perMinute * factor;
    if (factor === 1 || isOver) setHeaders(res, count, factor);
    if (isOver) throw new TooManyRequests(secondsOf(count));
  };

  const count = (res: ServerResponse, key: string, factor?: number): Promise<void> | undefined => {
    const counted = counter.take(key, factor);
    if (counted instanceof Promise) return counted.then((settled) => report(res, settled, factor));
    report(res, counted, factor);
    return undefined;
  };

  const countNetworks: RequestRateLimit['countNetworks'] = (res, [network, ...wider]) => {
    if (network === undefined) return undefined;
    const counting = count(res, networkKey(network.name), network.factor);
    return counting === undefined
      ? countNetworks(res, wider)
      : counting.then(() => countNetworks(res, wider));
  };

  const add = (res: ServerResponse, key: string, more: number, factor = 1): void => {
    const counted = counter.add(key, more);
    if (counted !== undefined && factor === 1) setHeaders(res, counted, factor);
  };

  return {
    add: (res, key, more) => add(res, key, more),
    addToNetworks: (res, networks, more) => {
      for (const { name, factor } of networks) add(res, networkKey(name), more, factor);
    },
    count,
    countNetworks,
    check: (res, key) => {
      const exceeded = counter.exceeded(key);
      if (exceeded !== undefined) report(res, exceeded);
    },
  };
};
