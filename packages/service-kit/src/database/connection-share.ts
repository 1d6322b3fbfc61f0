import type { Database } from './database.ts';
import type { Log } from '../process/log.ts';

interface ShareOptions {
  database: Pick<Database, 'probe'>;
  log: Log;
  /** The service name in the names of its connections. */
  name: string;
  /** Connections that each replica may open. */
  connectionsEach: number;
  /** Replicas that the connections are sized for: DATABASE_REPLICAS. */
  sizedFor: number | undefined;
}

/** Connections that a service needs: for its replicas and one more during a rollout. The only place of this formula (ADR 87). */
export const connectionShare = (replicas: number, connectionsEach: number): number =>
  (replicas + 1) * connectionsEach;

/**
 * Logs a warning if the running replicas may open more connections than the service's share, or if the server has fewer than
 * that share. Logs nothing if the database does not answer, because readiness reports that.
 */
export const checkConnectionShare = async (options: ShareOptions): Promise<void> => {
  const { database, log, name, connectionsEach, sizedFor } = options;
  const rows = await database.probe<{ replicas: number; available: number }[]>`
      select count(distinct split_part(application_name, ':', 2))::int as replicas,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - current_setting('reserved_connections')::int as available
      from pg_stat_activity where application_name ~ ${`^${name}:[0-9a-f]{8}(:probe)?$`}`.catch(() => []);
  const [{ replicas, available } = { replicas: 0, available: Infinity }] = rows;
  const share = sizedFor === undefined ? available : connectionShare(sizedFor, connectionsEach);
  const needed = Math.max(replicas * connectionsEach, sizedFor === undefined ? 0 : share);
  if (replicas * connectionsEach <= share && needed <= available) return;
  log.warn(
    { replicas, connectionsEach, share, available },
    'the replicas of this service may open more connections than the database has for it: run fewer replicas, lower DATABASE_POOL, or raise max_connections and DATABASE_REPLICAS (docs/scaling.md)',
  );
};
