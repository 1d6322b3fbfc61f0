import { openSearchLane } from '@platform/service-kit/search-lane';
import type { ISql } from 'postgres';
import type { Env } from './env.ts';

/** Runs searches on separate connections, so that slow searches delay only other searches. */
export interface Searches extends AsyncDisposable {
  /** Gives `read`, which makes one statement, a connection. Throws Unavailable `query_timeout` or `too_busy`. */
  run<T>(text: string, read: (sql: ISql) => Promise<T>): Promise<T>;
}

const advice =
  'Narrow it: give SearchText three letters from a to z or digits in a row that are less common, or add another filter.';

/**
 * Whether the trigram index can find the text: it contains three consecutive letters from a to z or digits. With
 * LC_CTYPE C, as our databases have it, pg_trgm takes no other character for a letter.
 */
export const hasTrigram = (text: string): boolean => /[a-z\d]{3}/i.test(text);

export const createSearches = (env: Env): Searches => {
  const indexed = openSearchLane('consignments-search', env, advice);
  const short = openSearchLane('consignments-short-search', env, advice);
  return {
    run: (text, read) => (hasTrigram(text) ? indexed : short).run(read),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([indexed[Symbol.asyncDispose](), short[Symbol.asyncDispose]()]);
    },
  };
};
