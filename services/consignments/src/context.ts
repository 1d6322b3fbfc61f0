import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import { callerRights } from '@platform/auth/caller-rights';
import { createFeed } from '@platform/feed';
import { createSubscriptions } from '@platform/outgoing-webhooks';
import { installSql, withPageSettings } from '@platform/pagination/directory';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import type { Guard } from '@platform/service-kit/route';
import type { Migrations } from '@platform/service-kit/migrate';
import { feedParts } from '@platform/feed/sql';
import { subscriptionsPart } from '@platform/outgoing-webhooks/sql';
import { followedTables } from './db/followed.ts';
import { directories } from './db/directories.ts';
import type { Env } from './env.ts';
import { createSearches, type Searches } from './search.ts';

export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
  parts: [
    ...directories.map((directory) => ({
      name: `page directory of ${directory.name}`,
      sql: installSql(directory),
    })),
    ...feedParts(followedTables),
    subscriptionsPart,
  ],
};

export interface Context extends BaseContext {
  /** Authenticates requests that read lists. */
  reader: Guard<Caller>;
  /** Authenticates requests that create, read or change single records. */
  writer: Guard<Caller>;
  searches: Searches;
  /** Creates the routes that export and follow a list. */
  follow: ReturnType<typeof createFeed>;
  subscriptions: ReturnType<typeof createSubscriptions<Caller>>;
  /** Maximum number of records that a search for a text without a trigram may scan. */
  shortSearchRows: number;
  /**
   * Limits of one import. If no data arrives for `quietMs`, the client probably waits for results before it sends
   * more; after `idleMs` the import ends.
   */
  importLimits: { lines: number; quietMs: number; idleMs: number };
}

/** Opens the connections of the service; `overrides` replace parts in tests. */
export const createContext = (env: Env, parts: LogAndMetrics, overrides: Partial<Context> = {}): Context => {
  const base = openBaseContext(
    { ...env, DATABASE_URL: withPageSettings(env.DATABASE_URL) },
    { name: 'consignments', migrations },
    parts,
  );
  const tokens = createTokenVerifier(tokenOptions(env));
  return {
    ...base,
    reader: tokens.guard('consignments:read'),
    writer: tokens.guard('consignments:write'),
    ops: tokens,
    searches: createSearches(env, base.resources),
    follow: createFeed({
      ...base,
      service: 'consignments',
      days: env.FEED_DAYS,
      maxStreams: env.FEED_STREAMS,
      anyCaseQuery: true,
    }),
    subscriptions: createSubscriptions(base, env, {
      service: 'consignments',
      auth: tokens.guard('consignments:subscriptions'),
      rights: callerRights,
    }),
    shortSearchRows: env.SHORT_SEARCH_MAX_ROWS,
    importLimits: { lines: env.IMPORT_MAX_LINES, quietMs: 1000, idleMs: env.IMPORT_IDLE_TIMEOUT_MS },
    ...overrides,
  };
};
