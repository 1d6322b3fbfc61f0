import type { Redis } from 'ioredis';
import type { Database } from './database.ts';
import { pendingMigrations } from './migrate.ts';

type State = 'ok' | 'degraded' | 'down' | 'off';

export interface Health {
  /** Set by the process while it shuts down: not ready, still alive. */
  draining: boolean;
  /** Whether the process may be sent requests, and what that rests on. */
  check(): Promise<{ ready: boolean; checks: Record<string, State> }>;
}

interface Parts {
  database: Database;
  redis: Redis | undefined;
  /** Folder of the service's migrations. */
  migrations: string;
}

/** Readiness needs the database and its migrations; Redis away is degraded but ready. */
export const createHealth = ({ database, redis, migrations }: Parts): Health => {
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
  const redisState = (): State =>
    redis === undefined ? 'off' : redis.status === 'ready' ? 'ok' : 'degraded';
  return {
    draining: false,
    async check() {
      const checks = { ...(await databaseState()), redis: redisState() };
      return { ready: !this.draining && !Object.values(checks).includes('down'), checks };
    },
  };
};
