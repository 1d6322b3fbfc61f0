import type { ApiKeyOptions, ApiKeyRow } from '@platform/auth/api-keys';
import type { Database } from '@platform/service-kit/db';
import type { Log } from '@platform/service-kit/log';
import { findByHash, saveLastUse } from './store.ts';

const instantOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** How the guard of the lists finds keys and notes their use. */
export const knownKeys = (database: Database, log: Log): ApiKeyOptions<ApiKeyRow> => ({
  find: async (hash) => {
    const row = await findByHash(database, hash);
    return row && { ...row, expiresAt: instantOf(row.expires_at), revokedAt: instantOf(row.revoked_at) };
  },
  touch: ({ id }, usedAt) => saveLastUse(database, id, usedAt),
  onTouchFailed: (err) => log.warn({ err }, 'the last use of an API key was not noted'),
});
