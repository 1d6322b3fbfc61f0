import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import { createFeed } from '@platform/feed';
import { feedParts } from '@platform/feed/sql';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import type { Migrations } from '@platform/service-kit/migrate';
import type { Guard } from '@platform/service-kit/route';
import type { Env } from './env.ts';

/** Migrations of the service's tables and of its change feed. */
export const migrations: Migrations = {
  folder: new URL('../migrations', import.meta.url).pathname,
  parts: feedParts([{ list: 'spare-parts', table: 'spare_parts', key: ['spare_part_id'] }]),
};

export interface Context extends BaseContext {
  /** Authentication of readers and of writers. */
  reader: Guard<Caller>;
  writer: Guard<Caller>;
  /** Creates the routes that export a list and stream its changes. */
  follow: ReturnType<typeof createFeed>;
}

/** Creates what every request needs: connections, clients, the clock. Tests replace parts with `overrides`. */
export const createContext = (env: Env, parts: LogAndMetrics, overrides: Partial<Context> = {}): Context => {
  const base = openBaseContext(env, { name: 'placeholder-service', migrations }, parts);
  const tokens = createTokenVerifier(tokenOptions(env));
  return {
    ...base,
    reader: tokens.guard('placeholder-service:read'),
    writer: tokens.guard('placeholder-service:write'),
    follow: createFeed({
      ...base,
      service: 'placeholder-service',
      days: env.FEED_DAYS,
      maxStreams: env.FEED_STREAMS,
    }),
    ops: tokens,
    ...overrides,
  };
};
