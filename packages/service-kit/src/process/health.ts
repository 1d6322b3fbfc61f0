import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Redis } from 'ioredis';
import type { Database } from '../database/database.ts';
import { pendingMigrations, shippedMigrations, type Migrations } from '../database/migrate.ts';
import { isRedisUp } from './redis.ts';

/**
 * Records in a file that a database has run all migrations of this version, so that the service can start while the
 * database is unavailable. The file belongs to one database.
 */
const createSchemaRecord = (file: string, migrations: Migrations) => {
  let isWritten = false;
  const write = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Processes that share the folder may write at the same time.
    const temporary = `${file}.${randomUUID()}`;
    await writeFile(temporary, shippedMigrations(migrations).join('\n'), { mode: 0o600 });
    await rename(temporary, file);
    isWritten = true;
  };
  return {
    /** Whether an earlier process of this version or a newer one has found the schema complete. */
    isComplete: async (): Promise<boolean> => {
      const hashes = (await readFile(file, 'utf8').catch(() => '')).split('\n');
      return shippedMigrations(migrations).every((hash) => hashes.includes(hash));
    },
    /** Records that the schema is complete. If that fails, for example on a full disk, the next check tries again. */
    save: async (): Promise<void> => {
      if (!isWritten) await write().catch(() => undefined);
    },
  };
};

type State = 'ok' | 'degraded' | 'down' | 'off';

export type Health = ReturnType<typeof createHealth>;

interface Dependencies {
  database: Database;
  redis: Redis | undefined;
  migrations: Migrations;
  /** For a service that works without its database: the file that records that this database has run the migrations. */
  schemaFile?: string | undefined;
}

/** A service is ready when its database answers and is migrated. Without Redis it is degraded but ready. */
export const createHealth = ({ database, redis, migrations, schemaFile }: Dependencies) => {
  const schemaRecord = schemaFile === undefined ? undefined : createSchemaRecord(schemaFile, migrations);
  let migrated = false;
  const databaseState = async (): Promise<{ database: State; migrations: State }> => {
    try {
      await database.ping();
      migrated ||= (await pendingMigrations(database.probe, migrations)) === 0;
      if (migrated) await schemaRecord?.save();
      return { database: 'ok', migrations: migrated ? 'ok' : 'down' };
    } catch {
      const isMigrated = migrated || (await schemaRecord?.isComplete());
      return { database: 'down', migrations: isMigrated ? 'ok' : 'down' };
    }
  };
  const redisState = async (): Promise<State> =>
    redis === undefined ? 'off' : (await isRedisUp(redis)) ? 'ok' : 'degraded';
  return {
    /** Set while the process shuts down: it is not ready but still alive. */
    draining: false,
    /** Whether the process is ready for requests, and the state of its dependencies. `excluded`: ignore this dependency. */
    async check(excluded?: 'database') {
      const [database, redis] = await Promise.all([databaseState(), redisState()]);
      const checks: Record<string, State> = { ...database, redis };
      const states = Object.values(checks);
      const isDown = Object.entries(checks).some(([name, state]) => name !== excluded && state === 'down');
      return {
        ready: !this.draining && !isDown,
        /** An optional dependency is missing. */
        degraded: states.includes('degraded'),
        checks,
      };
    },
  };
};
