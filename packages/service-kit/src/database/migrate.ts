import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres, { type Sql } from 'postgres';
import { runProgram } from '@platform/program';
import { migrationUrl } from '../process/env.ts';
import { SafeError } from '../process/safe-error.ts';
import { schemaOf } from './schema.ts';
import { certificateFault, serverOf } from './server-certificate.ts';

const migrationsTable = 'schema_migrations';

/** One lock for all migrators of a database; advisory locks are per database. */
const lock = 4_218_331;

/** How long a statement waits for a table that is in use: every request for that table waits behind it. */
const lockTimeoutMs = 3_000;

interface Migration {
  /** For example `0000_quests`. */
  name: string;
  /** SHA-256 of the file. */
  hash: string;
  /** Time in the journal, ms since 1970. drizzle applies only what is newer than the newest applied. */
  when: number;
}

const readShipped = (folder: string): Migration[] => {
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[];
  };
  return readMigrationFiles({ migrationsFolder: folder }).map(({ hash, folderMillis }, index) => ({
    name: journal.entries[index]?.tag ?? `migration ${index}`,
    hash,
    when: folderMillis,
  }));
};

const readApplied = async (sql: Sql): Promise<string[]> => {
  const [found] = await sql<{ exists: boolean }[]>`
    select to_regclass(${migrationsTable}) is not null as exists`;
  if (!found?.exists) return [];
  const rows = await sql<{ hash: string }[]>`
    select hash from ${sql(migrationsTable)} order by created_at, id`;
  return rows.map(({ hash }) => hash);
};

/**
 * Throws when the journal is out of order, or when an applied migration is not the shipped one at its
 * place: it was edited after it had run, or one was merged before it. drizzle would skip that one.
 */
const refuseMismatch = (shipped: Migration[], applied: string[]): void => {
  for (const [index, { name, hash, when }] of shipped.entries()) {
    const before = shipped[index - 1];
    if (before !== undefined && when <= before.when)
      throw new SafeError(`Migration ${name} is not newer than ${before.name}; generate it again.`);
    const ran = applied[index];
    if (ran !== undefined && ran !== hash)
      throw new SafeError(
        `This database ran another migration in the place of ${name}. Released migrations must not ` +
          'change or be inserted. In development stop the platform, delete the folder `.local` and start again.',
      );
  }
};

/** Before the first release the tables were in `public`. */
const refuseTablesInPublic = async (sql: Sql, schema: string): Promise<void> => {
  const [found] = await sql<{ exists: boolean }[]>`
    select to_regclass(${`public.${migrationsTable}`}) is not null as exists`;
  if (found?.exists && schema !== 'public')
    throw new SafeError(
      'This database has its tables in the schema `public`, as versions before the first release had. In development ' +
        'stop the platform, delete the folder `.local` and start again.',
    );
};

/**
 * Runs the migrations in `folder` that the database at `url` has not run. Two that start at once take turns, and the
 * second finds nothing left to do. They make everything in the schema that `url` names (`inSchema`), else in `public`. Each
 * run is one transaction. Throws, and changes nothing, when the database has its tables in `public` instead, when it ran
 * other migrations than the shipped ones, or when a table is in use for too long (SQLSTATE 55P03; run it again). A database
 * that is newer is left alone.
 */
export const migrate = async (url: string, folder: string): Promise<void> => {
  const server = serverOf(url);
  const migrationsSchema = schemaOf(url) ?? 'public';
  const sql = postgres(server.url, {
    ...(server.ssl && { ssl: server.ssl }),
    max: 1,
    onnotice: () => undefined,
  });
  try {
    await sql`select pg_advisory_lock(${lock})`;
    await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, false)`;
    await refuseTablesInPublic(sql, migrationsSchema);
    refuseMismatch(readShipped(folder), await readApplied(sql));
    await applyMigrations(drizzle(sql), { migrationsFolder: folder, migrationsSchema, migrationsTable });
  } finally {
    await sql.end({ timeout: 5 });
  }
};

const usage = `migrate: runs the migrations that the database has not run
The database is that of MIGRATION_DATABASE_URL, whose role owns the tables, else of DATABASE_URL; the schema is
DATABASE_SCHEMA, else the name of the service with _. "start" migrates by itself.`;

/** `migrate` as a program, and what else the service does as the owner of its tables. */
export const runMigrations = (
  service: string,
  folder: string,
  afterwards?: (url: string) => Promise<void>,
): Promise<void> =>
  runProgram(usage, async () => {
    const url = migrationUrl(service);
    await migrate(url, folder).catch((error: unknown) => {
      const fault = certificateFault(error);
      throw fault === undefined ? error : new SafeError(fault);
    });
    await afterwards?.(url);
  });

/** Hashes of the migrations in `folder`. */
export const shippedMigrations = (folder: string): string[] => readShipped(folder).map(({ hash }) => hash);

/** How many migrations of `folder` the database has not run. Rejects when the database does not answer. */
export const pendingMigrations = async (sql: Sql, folder: string): Promise<number> => {
  const applied = new Set(await readApplied(sql));
  return readShipped(folder).filter(({ hash }) => !applied.has(hash)).length;
};
