import { makeApiKey } from '@platform/auth/api-keys';
import { rebuild } from '@platform/pagination/directory';
import type { Sql } from 'postgres';
import { projectDirectory } from 'verify-projects/directory';

/**
 * Inserts `count` projects, one changed every second; three in ten are archived. Then rebuilds the page directory and
 * vacuums.
 */
export const fillProjects = async (sql: Sql, count: number): Promise<void> => {
  await sql`
    insert into projects
    select gen_random_uuid(), 'Degrees of the year, volume ' || n,
      (array['archived', 'archived', 'archived', 'completed', 'completed', 'completed', 'active', 'active', 'in_review', 'draft'])[1 + n % 10],
      'en', array['de', 'fr', 'pt-BR'], at - interval '30 days', at
    from generate_series(1, ${count}::int) n,
      lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at) time`;
  await rebuild(sql, projectDirectory);
  await sql`vacuum analyze`;
};

/** When the n-th project was changed. */
export const changedAt = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();

/** Creates an API key with the scope verify:read. */
export const createApiKey = async (sql: Sql): Promise<string> => {
  const { key, hash, display } = makeApiKey();
  await sql`
    insert into api_keys (id, name, key_hash, key_hint, scopes, created_at)
    values (gen_random_uuid(), 'bench', ${hash}, ${display}, array['verify:read'], now())`;
  return key;
};
