import { openSearchPool } from '@platform/service-kit/search-pool';
import type { ISql } from 'postgres';
import type { Env } from './env.ts';

/** The connections for searches. */
export type Searches = ReturnType<typeof createSearches>;

const advice =
  'Narrow it: send a SearchText with three letters from a to z or digits in a row that are less common, or a filter that matches fewer records.';

/**
 * Whether the trigram index can find the text: it contains three consecutive letters from a to z or digits. With
 * LC_CTYPE C, as our databases have it, pg_trgm treats no other character as a letter.
 */
export const hasTrigram = (text: string): boolean => /[a-z\d]{3}/i.test(text);

/**
 * Opens connections for searches and for lists whose matches are all counted. They are separate from those of other requests,
 * so that slow searches delay only each other. `resources` closes them.
 */
export const createSearches = (env: Env, resources: AsyncDisposableStack) => {
  const indexed = resources.use(openSearchPool('consignments-search', env, advice));
  const short = resources.use(openSearchPool('consignments-short-search', env, advice));
  return {
    /**
     * Runs `read`, which sends one statement: on a connection for indexed searches if `isIndexed`, else on one for short
     * texts. Throws Unavailable `query_timeout` or `too_busy`.
     */
    run: <T>(isIndexed: boolean, read: (sql: ISql) => Promise<T>): Promise<T> =>
      (isIndexed ? indexed : short).run(read),
  };
};
