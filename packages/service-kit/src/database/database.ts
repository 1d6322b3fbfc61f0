import { randomUUID } from 'node:crypto';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres, { type ISql, type Sql } from 'postgres';
import { spanTransactions } from '@platform/tracing/trace';
import { createConnectionQueue, type ConnectionQueue } from '../overload/connection-queue.ts';
import { boundPool } from './bounded-pool.ts';
import { serverOf } from './server-certificate.ts';
import { withTimeout } from '../process/timeout.ts';
import { SafeError } from '../process/safe-error.ts';

export interface Database extends AsyncDisposable {
  /** For hot paths and set-based statements. Returns times as PostgreSQL prints them, not as Date. */
  sql: Sql;
  /** For ordinary queries. */
  orm: PostgresJsDatabase;
  max: number;
  /** State of the queue of statements and transactions that wait for a connection. */
  queue: Omit<ConnectionQueue, 'enter' | 'leave'>;
  /** A separate connection for probes, so that a busy pool is not reported as a dead database. */
  probe: Sql;
  /** Resolves when the database answers on the probe connection. Rejects after `ms`. */
  ping(ms?: number): Promise<void>;
  /** The number of this pool's connections by state, as the server reports it. Rejects after a second. */
  connections(): Promise<{ state: string; count: number }[]>;
}

/** A drizzle transaction. */
export type Tx = Parameters<Parameters<Database['orm']['transaction']>[0]>[0];

/** Runs drizzle queries: the pool or a transaction. */
export type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update' | 'delete' | 'execute'>;

/** drizzle on a postgres.js connection or transaction, so that one transaction can use both. */
export const ormOf = (tx: ISql, { sql }: Pick<Database, 'sql'>): Executor =>
  drizzle(Object.assign(tx, { options: sql.options }) as unknown as Sql);

export interface DatabaseOptions {
  /** May contain `sslmode` and `sslrootcert`; see `serverOf`. */
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  /** Maximum number of connections of this process. Default: 10. */
  max?: number;
  /**
   * A statement that takes longer is cancelled (SQLSTATE 57014, over HTTP 503). If the server does not report that within
   * another second, the connection is closed, because the network may have lost it. Default: 5000.
   */
  statementTimeoutMs?: number;
  /** Maximum number of requests that wait for a connection. Beyond it: Unavailable `too_busy`. Default: 100. */
  maxWaiting?: number;
  /** Maximum time that they wait, in ms. After it: Unavailable `too_busy`. Default: 1000. */
  maxWaitMs?: number;
  /** Other server settings of each connection, for example `{ plan_cache_mode: 'force_generic_plan' }`. */
  settings?: Record<string, string>;
  /** See `boundPool`. Default: false. */
  refuseInTransactions?: boolean;
}

/** How long a connection may take to report that a statement has timed out. */
const graceMs = 1000;

const rejectAfter = <T>(ms: number, work: Promise<T>): Promise<T> =>
  withTimeout(ms, () => new SafeError(`the database did not answer within ${ms} ms`), work);

let poolConnections = 0;

/** Maximum number of connections of this process: those of all its pools, and one for probes. */
export const connectionsOfProcess = (): number => poolConnections + 1;

/**
 * Opens a connection pool with a bounded queue (ADR 67). It connects with the first query. When the server becomes unavailable,
 * running queries reject at once (503 by `toProblem`) and later ones reconnect.
 */
export const openDatabase = ({
  url,
  name,
  max = 10,
  statementTimeoutMs = 5000,
  maxWaiting = 100,
  maxWaitMs = 1000,
  settings = {},
  refuseInTransactions = false,
}: DatabaseOptions): Database => {
  const server = serverOf(url);
  const instance = `${name}:${randomUUID().slice(0, 8)}`;
  const open = (
    application: string,
    connections: number,
    timeoutMs: number,
    serverSettings: Record<string, string>,
  ): Sql =>
    postgres(server.url, {
      ...(server.ssl && { ssl: server.ssl }),
      max: connections,
      // No pipelining: a pipelined statement would wait for the one before it, and could be hit by its late cancel request.
      max_pipeline: 0,
      connect_timeout: 5,
      keep_alive: 10,
      response_timeout: (timeoutMs + graceMs) / 1000,
      // The default waits up to 20 s between attempts, but a recovered database should be used at once.
      backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1) * (0.5 + Math.random() / 2),
      onnotice: () => undefined,
      connection: {
        application_name: application,
        statement_timeout: timeoutMs,
        idle_in_transaction_session_timeout: 10_000,
        ...serverSettings,
      },
    });
  poolConnections += max;
  // Uses the same settings as the pool, so that the probe fails too if a server or pooler rejects them.
  const probe = open(`${instance}:probe`, 1, 1000, settings);
  const queue = createConnectionQueue({ slots: max, maxWaiting, maxWaitMs });
  const pool = open(instance, max, statementTimeoutMs, settings);
  const sql = spanTransactions(boundPool(pool, queue, { refuseInTransactions }));
  const ping = async (ms = 1000) => {
    await rejectAfter(ms, probe`select 1`);
  };
  const connections = () =>
    rejectAfter(
      1000,
      probe<{ state: string; count: number }[]>`
        select coalesce(state, 'unknown') as state, count(*)::int as count
        from pg_stat_activity where application_name = ${instance} group by 1`,
    );
  return {
    sql,
    orm: drizzle(sql),
    max,
    queue,
    probe,
    ping,
    connections,
    [Symbol.asyncDispose]: async () => {
      poolConnections -= max;
      await Promise.all([sql.end({ timeout: 5 }), probe.end({ timeout: 5 })]);
    },
  };
};
