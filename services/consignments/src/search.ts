import { openDatabase } from '@platform/service-kit/db';
import { Unavailable } from '@platform/service-kit/problem';
import { withDeadline } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';

/** Runs searches on separate connections, so that slow searches delay only other searches. */
export interface Searches extends AsyncDisposable {
  /** Gives `read` a connection. Throws Unavailable `query_timeout` when the time for `text` is over. */
  run<T>(text: string, read: (sql: Sql) => Promise<T>): Promise<T>;
}

interface SearchOptions {
  databaseUrl: string;
  /** Connections of each kind of search. */
  max: number;
  /** In milliseconds, for texts with a trigram, which the index can find, and without. */
  timeouts: { indexed: number; short: number };
}

/** PostgreSQL plans each search again, because the best plan depends on the pattern. */
const planned = (databaseUrl: string): string => {
  const url = new URL(databaseUrl);
  url.searchParams.set('plan_cache_mode', 'force_custom_plan');
  url.searchParams.set('jit', 'off');
  return url.href;
};

const tooSlow = (error?: unknown): Unavailable =>
  new Unavailable(
    'query_timeout',
    'The search takes too long. Narrow it: give SearchText three letters or digits in a row that are less ' +
      'common, or add another filter.',
    error,
  );

const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === '57014';

const lane = (databaseUrl: string, name: string, max: number, ms: number) => {
  const url = planned(databaseUrl);
  const database = openDatabase({ url, name, max, statementTimeoutMs: ms, maxWaitMs: ms });
  return {
    /** The timeout includes the time spent waiting for a connection. */
    run: async <T>(read: (sql: Sql) => Promise<T>): Promise<T> => {
      try {
        return await withDeadline(ms, tooSlow, () => read(database.sql));
      } catch (error) {
        throw isCancelled(error) ? tooSlow(error) : error;
      }
    },
    close: () => database[Symbol.asyncDispose](),
  };
};

/** Whether the text contains three consecutive letters or digits, so that the trigram index can find it. */
export const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text);

export const createSearches = ({ databaseUrl, max, timeouts }: SearchOptions): Searches => {
  const indexed = lane(databaseUrl, 'consignments-search', max, timeouts.indexed);
  const short = lane(databaseUrl, 'consignments-short-search', max, timeouts.short);
  return {
    run: (text, read) => (hasTrigram(text) ? indexed : short).run(read),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([indexed.close(), short.close()]);
    },
  };
};
