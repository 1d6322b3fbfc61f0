import { Router } from 'express';
import type { Redis } from 'ioredis';
import type { Database } from './database.ts';
import type { Metrics } from './metrics.ts';
import { pendingMigrations } from './migrate.ts';

type State = 'ok' | 'degraded' | 'down' | 'off';

export interface Health {
  /** Set by the process while it shuts down: not ready, still alive. */
  draining: boolean;
  checks(): Promise<Record<string, State>>;
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
      migrated ||= (await pendingMigrations(database.sql, migrations)) === 0;
      return { database: 'ok', migrations: migrated ? 'ok' : 'down' };
    } catch {
      return { database: 'down', migrations: migrated ? 'ok' : 'down' };
    }
  };
  const redisState = (): State =>
    redis === undefined ? 'off' : redis.status === 'ready' ? 'ok' : 'degraded';
  return { draining: false, checks: async () => ({ ...(await databaseState()), redis: redisState() }) };
};

/** Whether the process may be sent requests, and what that rests on. */
export const readiness = async (
  health: Health,
): Promise<{ ready: boolean; checks: Record<string, State> }> => {
  const checks = await health.checks();
  return { ready: !health.draining && !Object.values(checks).includes('down'), checks };
};

/** `/livez` (the process runs), `/readyz` (it may be sent requests), `/metrics` (Prometheus). */
export const healthRoutes = (health: Health, { registry }: Metrics): Router => {
  const router = Router();
  router.get('/livez', (_req, res) => {
    res.json({ status: 'ok' });
  });
  router.get('/readyz', async (_req, res) => {
    const { ready, checks } = await readiness(health);
    res
      .status(ready ? 200 : 503)
      .json({ status: health.draining ? 'draining' : ready ? 'ready' : 'not_ready', checks });
  });
  router.get('/metrics', async (_req, res) => {
    res.setHeader('Content-Type', registry.contentType);
    res.end(await registry.metrics());
  });
  return router;
};
