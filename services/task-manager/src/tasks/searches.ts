import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter, type Count } from '@platform/service-kit/rate-limit';
import { openSearchPool } from '@platform/service-kit/search-pool';
import type { Redis } from 'ioredis';
import type { ISql } from 'postgres';
import type { Env } from '../env.ts';

/** Runner of searches created by `createSearches`. */
export type Searches = ReturnType<typeof createSearches>;

const advice = 'Delete or shorten tasks that you no longer need.';
const usedUp = 'Your searches have taken too much time; search again later.';

/**
 * Runs searches: lists by words or other filters read all tasks of a user, and late pages skip as many. So searches have separate
 * connections, and their number, their duration and the time per user and minute are limited (docs/adr/0088, 0143). `resources`
 * closes the connections.
 */
export const createSearches = (env: Env, redis: Redis | undefined, resources: AsyncDisposableStack) => {
  const lane = resources.use(openSearchPool('task-manager-search', env, advice));
  const perMinute = env.SEARCH_MS_PER_MINUTE;
  const searchTime =
    env.RATE_LIMIT === 'on'
      ? createBatchedRateCounter({ redis, prefix: 'task-manager:search-ms', points: perMinute, seconds: 60 })
      : undefined;
  const requireTimeLeft = (count?: Count): void => {
    if (count !== undefined && count.consumedPoints > perMinute)
      throw new TooManyRequests(count.msBeforeNext / 1000, usedUp);
  };
  return {
    /**
     * Runs `read`, which sends one statement, on a search connection. Throws Unavailable `query_timeout` or `too_busy`, and
     * TooManyRequests for a user whose searches have used up their time of this minute.
     */
    run: async <T>(userId: string, read: (sql: ISql) => Promise<T>): Promise<T> => {
      requireTimeLeft(await searchTime?.take(userId));
      return lane.run(async (sql) => {
        // Concurrent searches of the user may have used up the time while this one waited.
        requireTimeLeft(searchTime?.exceeded(userId));
        const start = performance.now();
        try {
          return await read(sql);
        } finally {
          searchTime?.add(userId, Math.round(performance.now() - start));
        }
      });
    },
  };
};
