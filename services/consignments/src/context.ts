import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import { withPageSettings } from '@platform/pagination/directory';
import { openBaseContext, type BaseContext, type Parts } from '@platform/service-kit/context';
import type { Guard } from '@platform/service-kit/route';
import type { Env } from './env.ts';
import { createSearches, type Searches } from './search.ts';

export const migrations = new URL('../migrations', import.meta.url).pathname;

export interface Context extends BaseContext {
  /** Who may read the lists. */
  reader: Guard<Caller>;
  /** Who may make, read and change single records. */
  writer: Guard<Caller>;
  searches: Searches;
  /** Records that a text without a trigram may be searched in. */
  shortSearchRows: number;
  /**
   * Bounds of one import. A body that stands still for `quietMs` is taken for that of a caller who waits
   * for a result before it sends more; after `idleMs` it is given up.
   */
  importLimits: { lines: number; quietMs: number; idleMs: number };
}

/** Opens everything the service holds on to; `overrides` replace parts in tests. */
export const createContext = (env: Env, parts: Parts, overrides: Partial<Context> = {}): Context => {
  const base = openBaseContext(
    { ...env, DATABASE_URL: withPageSettings(env.DATABASE_URL) },
    { name: 'consignments', migrations },
    parts,
  );
  const tokens = createTokenVerifier({
    jwks: env.AUTH_JWKS,
    issuer: env.AUTH_ISSUER,
    audience: env.AUTH_AUDIENCE,
  });
  const searches = createSearches({
    databaseUrl: env.DATABASE_URL,
    max: env.SEARCH_POOL,
    timeouts: { indexed: env.SEARCH_TIMEOUT_MS, short: env.SHORT_SEARCH_TIMEOUT_MS },
  });
  return {
    ...base,
    reader: tokens.guard('consignments:read'),
    writer: tokens.guard('consignments:write'),
    ops: tokens.guard('ops:read'),
    searches,
    shortSearchRows: env.SHORT_SEARCH_MAX_ROWS,
    importLimits: { lines: env.IMPORT_MAX_LINES, quietMs: 1000, idleMs: env.IMPORT_IDLE_TIMEOUT_MS },
    ...overrides,
    [Symbol.asyncDispose]: async () => {
      await searches[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
};
