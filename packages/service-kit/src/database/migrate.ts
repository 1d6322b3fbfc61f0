import { createHash } from 'node:crypto';
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

/** What makes the tables of a service. */
export interface Migrations {
  /** Those of its own, as drizzle-kit writes them. */
  folder: string;
  /** What packages need in its database; each is installed once, after those of the folder, in this order. */
  parts?: readonly SchemaPart[];
}

/** SQL of a package. Once released it is never edited: a further part changes what an earlier one has made. */
export interface SchemaPart {
  /** Unique in a service, for example `feed of orders`. */
  name: string;
  sql: string;
}

const migrationsTable = 'schema_migrations';
const partsTable = 'schema_parts';

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

const hashOf = (sql: string): string => createHash('sha256').update(sql).digest('hex');

const readShipped = ({ folder }: Migrations): Migration[] => {
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[];
  };
  return readMigrationFiles({ migrationsFolder: folder }).map(({ hash, folderMillis }, index) => ({
    name: journal.entries[index]?.tag ?? `migration ${index}`,
    hash,
    when: folderMillis,
  }));
};

const exists = async (sql: Sql, table: string): Promise<boolean> => {
  const [found] = await sql<{ exists: boolean }[]>`select to_regclass(${table}) is not null as exists`;
  return found?.exists === true;
};

const readApplied = async (sql: Sql): Promise<string[]> => {
  if (!(await exists(sql, migrationsTable))) return [];
  const rows = await sql<{ hash: string }[]>`
    select hash from ${sql(migrationsTable)} order by created_at, id`;
  return rows.map(({ hash }) => hash);
};

/** The parts that the database does not have. Throws when it has another one of the same name. */
const missingParts = async (sql: Sql, { parts = [] }: Migrations): Promise<SchemaPart[]> => {
  if (parts.length === 0 || !(await exists(sql, partsTable))) return [...parts];
  const rows = await sql<{ name: string; hash: string }[]>`select name, hash from ${sql(partsTable)}`;
  const installed = new Map(rows.map(({ name, hash }) => [name, hash]));
  for (const part of parts)
    if (![undefined, hashOf(part.sql)].includes(installed.get(part.name))) throw mismatch(part.name);
  return parts.filter(({ name }) => !installed.has(name));
};

const installParts = async (sql: Sql, migrations: Migrations): Promise<void> => {
  for (const part of await missingParts(sql, migrations))
    await sql.begin(async (tx) => {
      await tx`create table if not exists ${tx(partsTable)} (
        name text primary key, hash text not null, installed_at timestamptz not null default now())`;
      await tx.unsafe(part.sql);
      await tx`insert into ${tx(partsTable)} (name, hash) values (${part.name}, ${hashOf(part.sql)})`;
    });
};

const mismatch = (name: string): SafeError =>
  new SafeError(
    `This database ran another migration in the place of ${name}. Released migrations must not ` +
      'change or be inserted. In development stop the platform, delete the folder `.local` and start again.',
  );

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
    if (ran !== undefined && ran !== hash) throw mismatch(name);
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
 * Runs the migrations that the database at `url` has not run. Two that start at once take turns, and the
 * second finds nothing left to do. They make everything in the schema that `url` names (`inSchema`), else in `public`. Each
 * run is one transaction. Throws, and changes nothing, when the database has its tables in `public` instead, when it ran
 * other migrations than the shipped ones, or when a table is in use for too long (SQLSTATE 55P03; run it again). A database
 * that is newer is left alone.
 */
export const migrate = async (url: string, migrations: Migrations): Promise<void> => {
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
    refuseMismatch(readShipped(migrations), await readApplied(sql));
    await missingParts(sql, migrations);
    const { folder } = migrations;
    await applyMigrations(drizzle(sql), { migrationsFolder: folder, migrationsSchema, migrationsTable });
    await installParts(sql, migrations);
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
  migrations: Migrations,
  afterwards?: (url: string) => Promise<void>,
): Promise<void> =>
  runProgram(usage, async () => {
    const url = migrationUrl(service);
    await migrate(url, migrations).catch((error: unknown) => {
      const fault = certificateFault(error);
      throw fault === undefined ? error : new SafeError(fault);
    });
    await afterwards?.(url);
  }).finally(() => {
    // Modules that are loaded after this one, such as the demo data, must not run.
    if (process.exitCode !== undefined && process.exitCode !== 0) process.exit();
  });

/** Hashes of all migrations and parts. */
export const shippedMigrations = (migrations: Migrations): string[] => [
  ...readShipped(migrations).map(({ hash }) => hash),
  ...(migrations.parts ?? []).map(({ sql }) => hashOf(sql)),
];

/** How many migrations and parts the database has not run. Rejects when the database does not answer. */
export const pendingMigrations = async (sql: Sql, migrations: Migrations): Promise<number> => {
  const applied = new Set(await readApplied(sql));
  const pending = readShipped(migrations).filter(({ hash }) => !applied.has(hash));
  return pending.length + (await missingParts(sql, migrations)).length;
};
