import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { shippedMigrations, type Migrations } from '../database/migrate.ts';

/** Remembers on disk that a database has run all migrations of this version. */
export interface SchemaMemory {
  /** Whether an earlier process of this version, or of a newer one, has seen the schema. */
  isRemembered(): Promise<boolean>;
  /** Rejects when the file cannot be written. */
  remember(): Promise<void>;
}

/** `file` is that of one database, and is kept as long as what the service keeps while the database is away. */
export const createSchemaMemory = (file: string, migrations: Migrations): SchemaMemory => ({
  isRemembered: async () => {
    const seen = (await readFile(file, 'utf8').catch(() => '')).split('\n');
    return shippedMigrations(migrations).every((hash) => seen.includes(hash));
  },
  remember: async () => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Processes that share the folder may write at the same time.
    const own = `${file}.${randomUUID()}`;
    await writeFile(own, shippedMigrations(migrations).join('\n'), { mode: 0o600 });
    await rename(own, file);
  },
});
