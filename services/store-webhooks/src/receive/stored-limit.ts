import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';

export type StoredLimit = ReturnType<typeof createStoredLimit>;

/**
 * Limits the bytes of webhooks that are stored for one token in a day. Webhooks are kept for weeks, and whoever has a token could
 * fill the disk of all services in hours. It counts tokens, not stores, so that a store that replaces a stolen one can go on.
 * Counts are shared through Redis; an instance only knows the counts of tokens that it has added to.
 */
export const createStoredLimit = (redis: RateCounterOptions['redis'], megabytes: number) => {
  const counter = createBatchedRateCounter({
    redis,
    prefix: 'store-webhooks:stored-kib',
    points: megabytes * 1024,
    seconds: 86_400,
  });
  return {
    /** Throws TooManyRequests if no more is stored for the token. */
    require: (tokenHash: string): void => {
      const exceeded = counter.exceeded(tokenHash);
      if (exceeded !== undefined)
        throw new TooManyRequests(
          exceeded.msBeforeNext / 1000,
          `At most ${megabytes} MB of webhooks are stored for a token in a day.`,
        );
    },
    /** Counts a stored body. Does not wait: a count that fails is lost, because the webhook is already stored. */
    count: (tokenHash: string, bytes: number): void => {
      void Promise.resolve(counter.take(tokenHash)).catch(() => undefined);
      counter.add(tokenHash, Math.floor(bytes / 1024));
    },
  };
};
