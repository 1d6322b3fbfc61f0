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
  /** For hot paths and set-based statements. Times come back as PostgreSQL prints them, not as Date. */
  sql: Sql;
  /** For ordinary queries. */
  orm: PostgresJsDatabase;
  max: number;
  /** Statements and transactions that wait for a connection. */
  queue: Omit<ConnectionQueue, 'enter' | 'leave'>;
  /** One more connection for probes, so that a busy pool looks busy and not dead. */
  probe: Sql;
  /** Resolves when the database answers the probe's connection; rejects after `ms`. */
  ping(ms?: number): Promise<void>;
  /** This pool's connections at the server, by state. Rejects after a second. */
  connections(): Promise<{ state: string; count: number }[]>;
}

/** A drizzle transaction. */
export type Tx = Parameters<Parameters<Database['orm']['transaction']>[0]>[0];

/** What a store function runs its queries on: the pool or a transaction. */
export type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update' | 'delete' | 'execute'>;

/** drizzle on `sql` or a transaction of it, for statements of both in one transaction. */
export const ormOf = (tx: ISql, { sql }: Pick<Database, 'sql'>): Executor =>
  drizzle(Object.assign(tx, { options: sql.options }) as unknown as Sql);

export interface DatabaseOptions {
  /** May have `sslmode` and `sslrootcert`: see `serverOf`. */
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  /** The maximum number of connections of this process; 10 unless said otherwise. */
  max?: number;
  /**
   * A statement that takes longer is cancelled (SQLSTATE 57014, which answers 503). A connection that has not answered
   * a second after that is closed, because the network may have lost it.
   */
  statementTimeoutMs?: number;
  /** Statements and transactions of requests that may wait for a connection; 100 unless said otherwise. */
  maxWaiting?: number;
  /** How long they may wait, in ms; a second unless said otherwise. Beyond either it is Unavailable `too_busy`. */
  maxWaitMs?: number;
  /** Other server settings of each connection, for example `{ plan_cache_mode: 'force_generic_plan' }`. */
  settings?: Record<string, string>;
  /** See `boundPool`; false unless said otherwise. */
  refuseInTransactions?: boolean;
}

/** How long a connection may take to report that a statement has timed out. */
const graceMs = 1000;

const answerWithin = <T>(ms: number, work: Promise<T>): Promise<T> =>
  withTimeout(ms, () => new SafeError(`the database did not answer within ${ms} ms`), work);

let poolConnections = 0;

/** Connections that this process may open: those of all its pools, and one for probes. */
export const connectionsOfProcess = (): number => poolConnections + 1;

/**
 * A connection pool with a bounded queue (ADR 67). Nothing connects before the first query. When the server goes away, running
 * queries reject at once (503 by `toProblem`) and later ones reconnect.
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
    more: Record<string, string>,
  ): Sql =>
    postgres(server.url, {
      ...(server.ssl && { ssl: server.ssl }),
      max: connections,
      // A statement that is sent behind another one waits as long as that one takes, and a late cancel request hits it.
      max_pipeline: 0,
      connect_timeout: 5,
      keep_alive: 10,
      response_timeout: (timeoutMs + graceMs) / 1000,
      // The default waits up to 20 s between attempts; a database that is back should be found at once.
      backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1) * (0.5 + Math.random() / 2),
      onnotice: () => undefined,
      connection: {
        application_name: application,
        statement_timeout: timeoutMs,
        idle_in_transaction_session_timeout: 10_000,
        ...more,
      },
    });
  poolConnections += max;
  // With the same settings: a server, or a pooler before it, that refuses them refuses the pool.
  const probe = open(`${instance}:probe`, 1, 1000, settings);
  const queue = createConnectionQueue({ slots: max, maxWaiting, maxWaitMs });
  const pool = open(instance, max, statementTimeoutMs, settings);
  const sql = spanTransactions(boundPool(pool, queue, { refuseInTransactions }));
  const ping = async (ms = 1000) => {
    await answerWithin(ms, probe`select 1`);
  };
  const connections = () =>
    answerWithin(
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
