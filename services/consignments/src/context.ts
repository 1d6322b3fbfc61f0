import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import type { CountCache } from '@platform/pagination/directory/counted';
import { openBaseContext, type BaseContext, type Parts } from '@platform/service-kit/context';
import { askRedis } from '@platform/service-kit/redis';
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
  /** Totals that had to be counted. */
  counts: CountCache;
  /**
   * Bounds of one import. A body that stands still for `quietMs` is taken for that of a caller who waits
   * for a result before it sends more; after `idleMs` it is given up.
   */
  importLimits: { lines: number; quietMs: number; idleMs: number };
}

/** In seconds. A total is only believed while nothing has changed; it need not be kept for longer than it is of use. */
const countsKept = 3600;

const keepCounts = (redis: BaseContext['redis']): CountCache => {
  const keyOf = (key: string) => `consignments:${key}`;
  return {
    get: (key) => askRedis(redis, (client) => client.get(keyOf(key))),
    set: (key, value) => askRedis(redis, (client) => client.set(keyOf(key), value, 'EX', countsKept)),
  };
};

/** Opens everything the service holds on to; `overrides` replace parts in tests. */
export const createContext = (env: Env, parts: Parts, overrides: Partial<Context> = {}): Context => {
  const base = openBaseContext(env, { name: 'consignments', migrations }, parts);
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
    counts: keepCounts(base.redis),
    importLimits: { lines: env.IMPORT_MAX_LINES, quietMs: 1000, idleMs: env.IMPORT_IDLE_TIMEOUT_MS },
    ...overrides,
    [Symbol.asyncDispose]: async () => {
      await searches[Symbol.asyncDispose]();
      await base[Symbol.asyncDispose]();
    },
  };
};
