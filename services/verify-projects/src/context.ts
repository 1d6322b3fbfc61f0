import { createApiKeys } from '@platform/auth/api-keys';
import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import { createFeed } from '@platform/feed';
import { createSubscriptions } from '@platform/outgoing-webhooks';
import { installSql, withPageSettings } from '@platform/pagination/directory';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import type { Guard } from '@platform/service-kit/route';
import { openSearchPool, type SearchPool } from '@platform/service-kit/search-pool';
import type { Migrations } from '@platform/service-kit/migrate';
import { feedParts } from '@platform/feed/sql';
import { subscriptionsPart } from '@platform/outgoing-webhooks/sql';
import { followedTables } from './db/followed.ts';
import { projectDirectory } from './db/directory.ts';
import { findByHash, findValid, saveLastUse } from './api-keys/queries.ts';
import type { Env } from './env.ts';
import { readerGuard, readerRights, unlimited, type Reader } from './reader.ts';

export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
  parts: [
    { name: 'page directory of projects', sql: installSql(projectDirectory) },
    ...feedParts(followedTables),
    subscriptionsPart,
  ],
};

export interface Context extends BaseContext {
  /** Authenticates requests that read projects, languages and deliverables. */
  reader: Guard<Reader>;
  /** Authenticates requests that subscribe to these lists. */
  subscriber: Guard<Reader>;
  /** Call it when the record of the key with this hash has changed, so that this process looks it up again. */
  forgetKey: (hash: string) => void;
  /** Authenticates requests of the management API. */
  admin: Guard<Caller>;
  /** Creates the routes that export and follow a list. */
  follow: ReturnType<typeof createFeed>;
  subscriptions: ReturnType<typeof createSubscriptions<Reader>>;
  /** Days that a project must be archived before it can be deleted, so that clients that follow changes learn of it. */
  archivedDays: number;
  /** Connections for late pages of readers limited to clients, whose projects the page directory does not count. */
  latePages: SearchPool;
}

/** Opens the connections of the service; `overrides` replace parts in tests. */
export const createContext = (env: Env, parts: LogAndMetrics, overrides: Partial<Context> = {}): Context => {
  const settings = { ...env, DATABASE_URL: withPageSettings(env.DATABASE_URL) };
  const base = openBaseContext(settings, { name: 'verify-projects', migrations }, parts);
  const { now = base.now } = overrides;
  const tokens = createTokenVerifier({ ...tokenOptions(env), now });
  const { sql } = base.database;
  const keys = createApiKeys({
    find: (hash) => findByHash(sql, hash),
    touch: ({ id }) => saveLastUse(sql, id),
    onTouchFailed: (err) => base.log.warn({ err }, 'the last use of an API key was not stored'),
  });
  const guardFor = (scope: string, preferred: 'key' | 'token') =>
    readerGuard(keys.guard(scope), tokens.guard(scope), preferred);
  return {
    ...base,
    reader: guardFor('verify:read', 'key'),
    subscriber: guardFor('verify:read', 'token'),
    forgetKey: keys.forget,
    admin: unlimited(tokens.guard('verify:admin')),
    subscriptions: createSubscriptions(base, env, {
      service: 'verify-projects',
      auth: guardFor('verify-projects:subscriptions', 'token'),
      rights: readerRights((id) => findValid(sql, id)),
    }),
    follow: createFeed({
      ...base,
      service: 'verify-projects',
      days: env.FEED_DAYS,
      maxStreams: env.FEED_STREAMS,
    }),
    archivedDays: env.PROJECT_ARCHIVE_DAYS,
    latePages: base.resources.use(
      openSearchPool('verify-projects:late-pages', settings, 'Continue with `modified_after` and page 1.'),
    ),
    ops: tokens,
    ...overrides,
  };
};
