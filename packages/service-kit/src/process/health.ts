import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Redis } from 'ioredis';
import type { Database } from '../database/database.ts';
import { pendingMigrations, shippedMigrations, type Migrations } from '../database/migrate.ts';
import { isRedisUp } from './redis.ts';

/**
 * Remembers that a database has run all migrations of this version, in a file of that database, which is kept as long as what
 * the service keeps while the database is away.
 */
const createSchemaMemory = (file: string, migrations: Migrations) => {
  let isWritten = false;
  const write = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Processes that share the folder may write at the same time.
    const own = `${file}.${randomUUID()}`;
    await writeFile(own, shippedMigrations(migrations).join('\n'), { mode: 0o600 });
    await rename(own, file);
    isWritten = true;
  };
  return {
    /** Whether an earlier process of this version, or of a newer one, has seen the schema. */
    isRemembered: async (): Promise<boolean> => {
      const seen = (await readFile(file, 'utf8').catch(() => '')).split('\n');
      return shippedMigrations(migrations).every((hash) => seen.includes(hash));
    },
    /** On a full disk it is tried again by the next check. */
    remember: async (): Promise<void> => {
      if (!isWritten) await write().catch(() => undefined);
    },
  };
};

type State = 'ok' | 'degraded' | 'down' | 'off';

/** What `createHealth` makes. */
export type Health = ReturnType<typeof createHealth>;

interface Parts {
  database: Database;
  redis: Redis | undefined;
  migrations: Migrations;
  /** Of a service that works without its database: a file of that database, which remembers that the migrations have run. */
  schemaFile?: string | undefined;
}

/** Readiness needs the database and its migrations; Redis away is degraded but ready. */
export const createHealth = ({ database, redis, migrations, schemaFile }: Parts) => {
  const memory = schemaFile === undefined ? undefined : createSchemaMemory(schemaFile, migrations);
  let migrated = false;
  const databaseState = async (): Promise<{ database: State; migrations: State }> => {
    try {
      await database.ping();
      migrated ||= (await pendingMigrations(database.probe, migrations)) === 0;
      if (migrated) await memory?.remember();
      return { database: 'ok', migrations: migrated ? 'ok' : 'down' };
    } catch {
      const seen = migrated || (await memory?.isRemembered());
      return { database: 'down', migrations: seen ? 'ok' : 'down' };
    }
  };
  const redisState = async (): Promise<State> =>
    redis === undefined ? 'off' : (await isRedisUp(redis)) ? 'ok' : 'degraded';
  return {
    /** Set by the process while it shuts down: not ready, still alive. */
    draining: false,
    /** Whether the process may be sent requests, and what that rests on; `excluded` is for requests that do without that part. */
    async check(excluded?: 'database') {
      const [database, redis] = await Promise.all([databaseState(), redisState()]);
      const checks: Record<string, State> = { ...database, redis };
      const states = Object.values(checks);
      const isDown = Object.entries(checks).some(([name, state]) => name !== excluded && state === 'down');
      return {
        ready: !this.draining && !isDown,
        /** It works without something that it should have. */
        degraded: states.includes('degraded'),
        checks,
      };
    },
  };
};
