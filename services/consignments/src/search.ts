import { openSearchPool } from '@platform/service-kit/search-pool';
import type { ISql } from 'postgres';
import type { Env } from './env.ts';

/** What `createSearches` makes. */
export type Searches = ReturnType<typeof createSearches>;

const advice =
  'Narrow it: give SearchText three letters from a to z or digits in a row that are less common, or choose other filters, of which one matches fewer records.';

/**
 * Whether the trigram index can find the text: it contains three consecutive letters from a to z or digits. With
 * LC_CTYPE C, as our databases have it, pg_trgm treats no other character as a letter.
 */
export const hasTrigram = (text: string): boolean => /[a-z\d]{3}/i.test(text);

/**
 * Searches, and lists by filters for which all matches are counted, have separate connections, so that slow ones delay only
 * each other. The connections are closed with `resources`.
 */
export const createSearches = (env: Env, resources: AsyncDisposableStack) => {
  const indexed = resources.use(openSearchPool('consignments-search', env, advice));
  const short = resources.use(openSearchPool('consignments-short-search', env, advice));
  return {
    /**
     * Runs the single statement of `read`: on a connection for searches by an index if `isIndexed`, else on one for the
     * other texts. Throws Unavailable `query_timeout` or `too_busy`.
     */
    run: <T>(isIndexed: boolean, read: (sql: ISql) => Promise<T>): Promise<T> =>
      (isIndexed ? indexed : short).run(read),
  };
};
