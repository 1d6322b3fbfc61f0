import { readMigrationFiles } from 'drizzle-orm/migrator';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as runMigrations } from 'drizzle-orm/postgres-js/migrator';
import postgres, { type Sql } from 'postgres';

const table = { migrationsSchema: 'public', migrationsTable: 'schema_migrations' };

/** One lock for all migrators of a database; advisory locks are per database. */
const lock = 4_218_331;

/**
 * Brings the database at `url` up to the migrations in `folder`. Two that start at once take turns;
 * the second finds nothing left to do. Each run is one transaction.
 */
export const migrate = async (url: string, folder: string): Promise<void> => {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    await sql`select pg_advisory_lock(${lock})`;
    await runMigrations(drizzle(sql), { migrationsFolder: folder, ...table });
  } finally {
    await sql.end({ timeout: 5 });
  }
};

/** How many migrations of `folder` the database has not seen. Rejects when it can't be asked. */
export const pendingMigrations = async (sql: Sql, folder: string): Promise<number> => {
  const known = readMigrationFiles({ migrationsFolder: folder });
  const [row] = await sql<
    { exists: boolean }[]
  >`select to_regclass('public.schema_migrations') is not null as exists`;
  if (!row?.exists) return known.length;
  const [last] = await sql<
    { at: string | null }[]
  >`select max(created_at) as at from public.schema_migrations`;
  return known.filter((migration) => migration.folderMillis > Number(last?.at ?? 0)).length;
};
