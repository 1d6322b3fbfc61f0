import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import { callerRights } from '@platform/auth/caller-rights';
import { createFeed } from '@platform/feed';
import { createSubscriptions } from '@platform/outgoing-webhooks';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import { anyone, noLookupLimit, type Guard } from '@platform/service-kit/route';
import { createByteGate, type ByteGate } from '@platform/service-kit/byte-gate';
import type { Migrations } from '@platform/service-kit/migrate';
import { feedParts } from '@platform/feed/sql';
import { subscriptionsPart } from '@platform/outgoing-webhooks/sql';
import { followedTables } from './db/followed.ts';
import type { Env } from './env.ts';
import { createPages, type Pages } from './questions/pages.ts';
import { readVersion } from './quests/queries.ts';
import { createVersionCache, type VersionCache } from './version-cache.ts';

export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
  parts: [...feedParts(followedTables), subscriptionsPart],
};

export interface Context extends BaseContext {
  /** These authenticate requests that read published quests, export quests, and write. */
  reader: Guard<Caller | undefined>;
  exporter: Guard<Caller>;
  writer: Guard<Caller>;
  /** Like `reader`, but the caller is undefined if it may not see drafts. */
  draftReader: Guard<Caller | undefined>;
  /** Creates the routes that export and follow a list. */
  follow: ReturnType<typeof createFeed>;
  subscriptions: ReturnType<typeof createSubscriptions<Caller>>;
  versions: VersionCache;
  /** Undefined when pages are not cached. */
  pages: Pages | undefined;
  /** Bounds the memory of large pages and lists while they are read and written. */
  largeWork: ByteGate;
}

/** Admits every request; the caller is known if `guard` admits it. An invalid token is ignored: public quests need none. */
const optional = (guard: Guard<Caller>): Guard<Caller | undefined> => ({
  ...anyone,
  schemes: guard.schemes,
  identify: async (req) => {
    if (req.headers.authorization === undefined) return undefined;
    return Promise.resolve(guard.identify(req, noLookupLimit)).catch(() => undefined);
  },
  keyOf: (caller) => caller?.subject,
});

/** Opens connections and builds everything the service uses; `overrides` replace parts in tests. */
export const createContext = (env: Env, parts: LogAndMetrics, overrides: Partial<Context> = {}): Context => {
  const base = { ...openBaseContext(env, { name: 'quest-service', migrations }, parts), ...overrides };
  const tokens = createTokenVerifier(tokenOptions(env));
  const readers = tokens.guard('quests:read');
  return {
    ...base,
    reader: env.QUESTS_REQUIRE_TOKEN ? readers : anyone,
    draftReader: env.QUESTS_REQUIRE_TOKEN ? readers : optional(readers),
    exporter: readers,
    writer: tokens.guard('quests:write'),
    ops: tokens,
    subscriptions: createSubscriptions(base, env, {
      service: 'quest-service',
      auth: tokens.guard('quest-service:subscriptions'),
      rights: callerRights,
    }),
    follow: createFeed({
      ...base,
      service: 'quest-service',
      days: env.FEED_DAYS,
      maxStreams: env.FEED_STREAMS,
      anyCaseQuery: true,
    }),
    versions: createVersionCache({
      redis: base.redis,
      read: (questId) => readVersion(base.database.sql, questId),
    }),
    largeWork: createByteGate({ capacity: 96 * 2 ** 20, maxWaiting: 32, maxWaitMs: 10_000 }),
    pages: createPages(env.QUESTS_CACHE_BYTES),
    ...overrides,
  };
};
