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

/** The migrations of a service's database. */
export interface Migrations {
  /** Folder with the service's own migrations, as drizzle-kit writes them. */
  folder: string;
  /** SQL of packages. Each part is installed once, after the migrations of the folder, in this order. */
  parts?: readonly SchemaPart[];
}

/** SQL of a package. A released part is never edited; changes need an additional part. */
export interface SchemaPart {
  /** Unique in a service, for example `feed of orders`. */
  name: string;
  sql: string;
}

const migrationsTable = 'schema_migrations';
const partsTable = 'schema_parts';

/** Key of the advisory lock that all migrators of a database take. */
const lockKey = 4_218_331;

/** Maximum time that a statement waits for the lock of a table, because all requests for that table queue behind it. */
const lockTimeoutMs = 3_000;

interface Migration {
  /** For example `0000_quests`. */
  name: string;
  /** SHA-256 of the file. */
  hash: string;
  /** Time in the journal, ms since 1970. drizzle applies only migrations that are newer than the newest applied one. */
  createdAtMs: number;
}

const hashOf = (sql: string): string => createHash('sha256').update(sql).digest('hex');

const readShipped = ({ folder }: Migrations): Migration[] => {
  const journal = JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[];
  };
  return readMigrationFiles({ migrationsFolder: folder }).map(({ hash, folderMillis }, index) => ({
    name: journal.entries[index]?.tag ?? `migration ${index}`,
    hash,
    createdAtMs: folderMillis,
  }));
};

const exists = async (sql: Sql, table: string): Promise<boolean> => {
  const [row] = await sql<{ exists: boolean }[]>`select to_regclass(${table}) is not null as exists`;
  return row?.exists === true;
};

const readApplied = async (sql: Sql): Promise<string[]> => {
  if (!(await exists(sql, migrationsTable))) return [];
  const rows = await sql<{ hash: string }[]>`
    select hash from ${sql(migrationsTable)} order by created_at, id`;
  return rows.map(({ hash }) => hash);
};

/** The parts that are not installed yet. Throws if an installed part with the same name has other SQL. */
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
    `This database ran a different migration instead of ${name}. Released migrations must not be changed, ` +
      'and none may be inserted before them. In development stop the platform, delete the folder `.local` and start again.',
  );

/**
 * Throws if the journal is out of order, or if an applied migration differs from the shipped one at its position: it was edited
 * after it ran, or another one was merged before it, which drizzle would skip.
 */
const refuseMismatch = (shipped: Migration[], applied: string[]): void => {
  for (const [index, { name, hash, createdAtMs }] of shipped.entries()) {
    const previous = shipped[index - 1];
    if (previous !== undefined && createdAtMs <= previous.createdAtMs)
      throw new SafeError(`Migration ${name} is not newer than ${previous.name}; generate it again.`);
    const appliedHash = applied[index];
    if (appliedHash !== undefined && appliedHash !== hash) throw mismatch(name);
  }
};

/** Throws if the tables are in the schema `public`, as before the first release. */
const refuseTablesInPublic = async (sql: Sql, schema: string): Promise<void> => {
  if (schema !== 'public' && (await exists(sql, `public.${migrationsTable}`)))
    throw new SafeError(
      'This database has its tables in the schema `public`, as versions before the first release had. In development ' +
        'stop the platform, delete the folder `.local` and start again.',
    );
};

/**
 * Runs the migrations that the database at `url` has not run yet, in the schema that `url` names (`inSchema`), else in `public`.
 * Each run is one transaction, and a lock makes concurrent runs wait for each other. Throws and changes nothing if the tables
 * are in `public` instead, if the database ran other migrations than the shipped ones, or if a table stays locked for too long
 * (SQLSTATE 55P03; run it again). Leaves a database that is newer than this version unchanged.
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
    await sql`select pg_advisory_lock(${lockKey})`;
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

const usage = `migrate: runs the migrations that the database has not run yet
Database: MIGRATION_DATABASE_URL, whose role owns the tables, else DATABASE_URL. Schema: DATABASE_SCHEMA, else the name of
the service with _. "start" runs the migrations itself.`;

/** `migrate` as a program. `afterwards` does further work of the service as the owner of its tables. */
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
    // After a failure, modules that are loaded later, such as the demo data, must not run.
    if (process.exitCode !== undefined && process.exitCode !== 0) process.exit();
  });

/** Hashes of all migrations and parts. */
export const shippedMigrations = (migrations: Migrations): string[] => [
  ...readShipped(migrations).map(({ hash }) => hash),
  ...(migrations.parts ?? []).map(({ sql }) => hashOf(sql)),
];

/** Number of migrations and parts that the database has not run yet. Rejects if the database does not answer. */
export const pendingMigrations = async (sql: Sql, migrations: Migrations): Promise<number> => {
  const applied = new Set(await readApplied(sql));
  const pending = readShipped(migrations).filter(({ hash }) => !applied.has(hash));
  return pending.length + (await missingParts(sql, migrations)).length;
};
