import { makeApiKey } from '@platform/auth/api-keys';
import type { Database } from '@platform/service-kit/db';
import {
  apiKeys,
  deliverables as deliverableTable,
  languages as languageTable,
  projects as projectTable,
} from '../db/tables.ts';
import { languages } from './languages.ts';
import { deliverables, projects } from './projects.ts';

/** What is there already stays as it is, whatever somebody has made of it since the last start. */
export const loadLists = async ({ orm }: Database): Promise<void> => {
  await orm.insert(languageTable).values(languages).onConflictDoNothing();
  await orm.insert(projectTable).values(projects).onConflictDoNothing();
  await orm.insert(deliverableTable).values(deliverables).onConflictDoNothing();
};

/**
 * A new key in place of the one of the same id. Since nothing but its hash is kept, each start makes
 * the demo's keys anew, and those of the start before end.
 */
export const replaceKey = async (
  { orm }: Database,
  { id, name, scopes }: { id: string; name: string; scopes: string[] },
): Promise<string> => {
  const { key, hash, display } = makeApiKey();
  const fresh = {
    hash,
    key_hint: display,
    created_at: new Date().toISOString(),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  };
  await orm
    .insert(apiKeys)
    .values({ id, name, scopes, ...fresh })
    .onConflictDoUpdate({ target: apiKeys.id, set: { name, scopes, ...fresh } });
  return key;
};
