import type { Database } from './database.ts';
import type { Log } from '../process/log.ts';

interface Share {
  database: Pick<Database, 'probe'>;
  log: Log;
  /** The service, as its connections are named. */
  name: string;
  /** Connections that a replica may open. */
  each: number;
  /** Replicas that the connections are sized for: DATABASE_REPLICAS. */
  sizedFor: number | undefined;
}

/** Connections of a service: of its replicas, and of one more while a version is rolled out. The one formula (ADR 87). */
export const connectionShare = (replicas: number, each: number): number => (replicas + 1) * each;

/**
 * Logs a warning when the replicas that run now may open more connections than the share of the service, or the server
 * has fewer than that share. Says nothing when the database does not answer, which readiness reports.
 */
export const checkConnectionShare = async ({ database, log, name, each, sizedFor }: Share): Promise<void> => {
  const rows = await database.probe<{ replicas: number; available: number }[]>`
      select count(distinct split_part(application_name, ':', 2))::int as replicas,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - current_setting('reserved_connections')::int as available
      from pg_stat_activity where application_name ~ ${`^${name}:[0-9a-f]{8}(:probe)?$`}`.catch(() => []);
  const [{ replicas, available } = { replicas: 0, available: Infinity }] = rows;
  const share = sizedFor === undefined ? available : connectionShare(sizedFor, each);
  const needed = Math.max(replicas * each, sizedFor === undefined ? 0 : share);
  if (replicas * each <= share && needed <= available) return;
  log.warn(
    { replicas, connectionsEach: each, share, available },
    'the replicas of this service may open more connections than the database has for it: run fewer replicas, lower DATABASE_POOL, or raise max_connections and DATABASE_REPLICAS (docs/scaling.md)',
  );
};
