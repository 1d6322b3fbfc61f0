import type { Redis } from 'ioredis';
import type { Database } from '../database/database.ts';
import { pendingMigrations } from '../database/migrate.ts';
import { isRedisUp } from './redis.ts';

type State = 'ok' | 'degraded' | 'down' | 'off';

/** What `createHealth` makes. */
export type Health = ReturnType<typeof createHealth>;

interface Parts {
  database: Database;
  redis: Redis | undefined;
  /** Folder of the service's migrations. */
  migrations: string;
}

/** Readiness needs the database and its migrations; Redis away is degraded but ready. */
export const createHealth = ({ database, redis, migrations }: Parts) => {
  let migrated = false;
  const databaseState = async (): Promise<{ database: State; migrations: State }> => {
    try {
      await database.ping();
      migrated ||= (await pendingMigrations(database.probe, migrations)) === 0;
      return { database: 'ok', migrations: migrated ? 'ok' : 'down' };
    } catch {
      return { database: 'down', migrations: migrated ? 'ok' : 'down' };
    }
  };
  const redisState = async (): Promise<State> =>
    redis === undefined ? 'off' : (await isRedisUp(redis)) ? 'ok' : 'degraded';
  return {
    /** Set by the process while it shuts down: not ready, still alive. */
    draining: false,
    /** Whether the process may be sent requests, and what that rests on. */
    async check() {
      const [database, redis] = await Promise.all([databaseState(), redisState()]);
      const checks: Record<string, State> = { ...database, redis };
      const states = Object.values(checks);
      return {
        ready: !this.draining && !states.includes('down'),
        /** It works without something that it should have. */
        degraded: states.includes('degraded'),
        checks,
      };
    },
  };
};
