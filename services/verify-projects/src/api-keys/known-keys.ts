import type { ApiKeyOptions, ApiKeyRow } from '@platform/auth/api-keys';
import type { Log } from '@platform/service-kit/log';
import type { Sql } from 'postgres';
import { findByHash, saveLastUse } from './queries.ts';

/** How the guard of the lists finds keys and records their use. */
export const knownKeys = (sql: Sql, log: Log): ApiKeyOptions<ApiKeyRow> => ({
  find: (hash) => findByHash(sql, hash),
  touch: ({ id }) => saveLastUse(sql, id),
  onTouchFailed: (err) => log.warn({ err }, 'the last use of an API key was not stored'),
});
