import type { ApiKeyOptions, ApiKeyRow } from '@platform/auth/api-keys';
import type { Database } from '@platform/service-kit/db';
import type { Log } from '@platform/service-kit/log';
import { findByHash, saveLastUse } from './queries.ts';

/** How the guard of the lists finds keys and records their use. */
export const knownKeys = (database: Database, log: Log): ApiKeyOptions<ApiKeyRow> => ({
  find: (hash) => findByHash(database, hash),
  touch: ({ id }) => saveLastUse(database, id),
  onTouchFailed: (err) => log.warn({ err }, 'the last use of an API key was not stored'),
});
