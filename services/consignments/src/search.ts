import { openDatabase } from '@platform/service-kit/db';
import { Unavailable } from '@platform/service-kit/problem';
import { withDeadline } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';

/** Runs searches on separate connections, so that slow searches delay only other searches. */
export interface Searches extends AsyncDisposable {
  /** Gives `read`, which makes one statement, a connection. Throws Unavailable `query_timeout` or `too_busy`. */
  run<T>(text: string, read: (sql: Sql) => Promise<T>): Promise<T>;
}

interface SearchOptions {
  databaseUrl: string;
  /** Searches of each kind that run at the same time. */
  max: number;
  /** Searches of each kind that may wait; the next one is refused with Unavailable `too_busy`. */
  maxWaiting: number;
  /** How long they may wait, in milliseconds. */
  maxWaitMs: number;
  /** Time limit of the statement, in milliseconds. */
  timeoutMs: number;
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
    'The search takes too long. Narrow it: give SearchText three letters from a to z or digits in a row that are less ' +
      'common, or add another filter.',
    error,
  );

const isCancelled = (error: unknown): boolean =>
  error instanceof Error && (error as { code?: unknown }).code === '57014';

const openLane = (name: string, { databaseUrl, max, maxWaiting, maxWaitMs, timeoutMs }: SearchOptions) => {
  const url = planned(databaseUrl);
  const database = openDatabase({ url, name, max, statementTimeoutMs: timeoutMs, maxWaiting, maxWaitMs });
  return {
    run: async <T>(read: (sql: Sql) => Promise<T>): Promise<T> => {
      try {
        // A scope of its own: a request that has had another connection would wait here without a limit.
        return await withDeadline(maxWaitMs + timeoutMs, tooSlow, () => read(database.sql));
      } catch (error) {
        throw isCancelled(error) ? tooSlow(error) : error;
      }
    },
    close: () => database[Symbol.asyncDispose](),
  };
};

/**
 * Whether the trigram index can find the text: it contains three consecutive letters from a to z or digits. With
 * LC_CTYPE C, as our databases have it, pg_trgm takes no other character for a letter.
 */
export const hasTrigram = (text: string): boolean => /[a-z\d]{3}/i.test(text);

export const createSearches = (options: SearchOptions): Searches => {
  const indexed = openLane('consignments-search', options);
  const short = openLane('consignments-short-search', options);
  return {
    run: (text, read) => (hasTrigram(text) ? indexed : short).run(read),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([indexed.close(), short.close()]);
    },
  };
};
