import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { migrate } from '../database/migrate.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

/** The same migrations give the same template, whichever test file comes first. */
const templateName = (folder: string): string => {
  const journal = readFileSync(join(folder, 'meta/_journal.json'), 'utf8');
  const tags = (JSON.parse(journal) as { entries: { tag: string }[] }).entries.map(({ tag }) => tag);
  const sources = tags.map((tag) => readFileSync(join(folder, `${tag}.sql`), 'utf8'));
  return `template_${createHash('sha256').update(journal).update(sources.join('\n')).digest('hex').slice(0, 16)}`;
};

/**
 * A database of its own for one test file, cloned in some 30 ms from a template that holds
 * `migrations` (a folder). `serverUrl` is a superuser's URL. Dropped on disposal.
 */
export const cloneDatabase = async (serverUrl: string, migrations: string): Promise<TestDatabase> => {
  const template = templateName(migrations);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  try {
    await sql`select pg_advisory_lock(hashtext(${template}))`;
    const [found] = await sql`select 1 from pg_database where datname = ${template} and datistemplate`;
    if (!found) {
      await sql`drop database if exists ${sql(template)}`;
      await sql`create database ${sql(template)}`;
      await migrate(withDatabase(serverUrl, template), migrations);
      // A pooler between this process and PostgreSQL keeps its connection.
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${template}`;
      await sql`alter database ${sql(template)} is_template true allow_connections false`;
    }
    // A copy of the files needs a third of the processor time of the default, which writes all pages to the WAL.
    await sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`;
  } finally {
    await sql.end();
  }
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: async () => {
      const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
      await admin`drop database if exists ${admin(name)} with (force)`;
      await admin.end();
    },
  };
};
