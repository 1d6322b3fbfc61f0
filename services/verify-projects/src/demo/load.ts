import { makeApiKey } from '@platform/auth/api-keys';
import type { Database } from '@platform/service-kit/db';
import { sql } from 'drizzle-orm';
import {
  apiKeys,
  deliverables as deliverableTable,
  languages as languageTable,
  projects as projectTable,
} from '../db/tables.ts';
import { languages } from './languages.ts';
import { deliverables, projects } from './projects.ts';

/** Existing rows are kept: somebody may have changed them since the last start. */
export const loadLists = async ({ orm }: Database): Promise<void> => {
  await orm.insert(languageTable).values(languages).onConflictDoNothing();
  await orm.insert(projectTable).values(projects).onConflictDoNothing();
  const clients = new Map(projects.map(({ id, client }) => [id, client]));
  const rows = deliverables.map((row) => ({ ...row, client: clients.get(row.project_id) ?? null }));
  await orm.insert(deliverableTable).values(rows).onConflictDoNothing();
};

/**
 * Replaces the key with this id. Only hashes are stored, so each start creates the demo keys again and the keys of
 * the previous start stop working.
 */
export const replaceKey = async (
  { orm }: Database,
  { id, ...settings }: { id: string; name: string; scopes: string[]; clients: string[] | null },
): Promise<string> => {
  const { key, hash, display } = makeApiKey();
  const columns = {
    ...settings,
    key_hash: hash,
    key_hint: display,
    created_at: sql`now()`,
    granted_until: null,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  };
  await orm
    .insert(apiKeys)
    .values({ id, ...columns })
    .onConflictDoUpdate({ target: apiKeys.id, set: columns });
  return key;
};
