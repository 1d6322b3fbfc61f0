import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter, type Count } from '@platform/service-kit/rate-limit';
import { openSearchPool } from '@platform/service-kit/search-pool';
import type { Redis } from 'ioredis';
import type { ISql } from 'postgres';
import type { Env } from '../env.ts';

/** What `createSearches` makes. */
export type Searches = ReturnType<typeof createSearches>;

const advice = 'Delete tasks that are not needed any more, or shorten them.';
const usedUp = 'Your searches have taken too much time; search again later.';

/**
 * Lists by words or other filters read all tasks of a user, and late pages skip as many. So these have separate connections,
 * and are bounded in number, in time and, per user, in their time in a minute (docs/adr/0088, 0143). The connections are
 * closed with `resources`.
 */
export const createSearches = (env: Env, redis: Redis | undefined, resources: AsyncDisposableStack) => {
  const lane = resources.use(openSearchPool('task-manager-search', env, advice));
  const perMinute = env.SEARCH_MS_PER_MINUTE;
  const spent =
    env.RATE_LIMIT === 'on'
      ? createBatchedRateCounter({ redis, prefix: 'task-manager:search-ms', points: perMinute, seconds: 60 })
      : undefined;
  const refuseOver = (count?: Count): void => {
    if (count !== undefined && count.consumedPoints > perMinute)
      throw new TooManyRequests(count.msBeforeNext / 1000, usedUp);
  };
  return {
    /**
     * Gives `read`, which makes one statement, a connection. Throws Unavailable `query_timeout` or `too_busy`, and
     * TooManyRequests for a user whose searches of this minute have taken too long.
     */
    run: async <T>(userId: string, read: (sql: ISql) => Promise<T>): Promise<T> => {
      refuseOver(await spent?.take(userId));
      return lane.run(async (sql) => {
        // Those that were sent together with this one may have used up the time meanwhile.
        refuseOver(spent?.exceeded(userId));
        const start = performance.now();
        try {
          return await read(sql);
        } finally {
          spent?.add(userId, Math.round(performance.now() - start));
        }
      });
    },
  };
};
