import type { Redis } from 'ioredis';
import type { Database } from '../database/database.ts';
import { pendingMigrations, type Migrations } from '../database/migrate.ts';
import { isRedisUp } from './redis.ts';
import type { SchemaMemory } from './schema-memory.ts';

type State = 'ok' | 'degraded' | 'down' | 'off';

/** What `createHealth` makes. */
export type Health = ReturnType<typeof createHealth>;

interface Parts {
  database: Database;
  redis: Redis | undefined;
  migrations: Migrations;
  /** Of a service that works without its database, and so must know without it whether the migrations have run. */
  schemaMemory?: SchemaMemory | undefined;
}

/** Readiness needs the database and its migrations; Redis away is degraded but ready. */
export const createHealth = ({ database, redis, migrations, schemaMemory }: Parts) => {
  let migrated = false;
  let isWritten = schemaMemory === undefined;
  /** On a full disk it is tried again by the next check. */
  const remember = async (): Promise<void> => {
    if (!migrated || isWritten) return;
    isWritten = await (schemaMemory?.remember() ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
  };
  const databaseState = async (): Promise<{ database: State; migrations: State }> => {
    try {
      await database.ping();
      migrated ||= (await pendingMigrations(database.probe, migrations)) === 0;
      await remember();
      return { database: 'ok', migrations: migrated ? 'ok' : 'down' };
    } catch {
      const seen = migrated || (await schemaMemory?.isRemembered());
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
