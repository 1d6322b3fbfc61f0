import { randomUUID } from 'node:crypto';
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres, { type Sql } from 'postgres';
import { spanTransactions } from '@platform/tracing/trace';

export interface Database extends AsyncDisposable {
  /** For hot paths and set-based statements. Times come back as PostgreSQL prints them, not as Date. */
  sql: Sql;
  /** For ordinary queries. */
  orm: PostgresJsDatabase;
  max: number;
  /** Resolves when a connection answers; rejects after `ms`. */
  ping(ms?: number): Promise<void>;
  /** This pool's connections at the server, by state. Rejects after a second. */
  connections(): Promise<{ state: string; count: number }[]>;
}

/** A drizzle transaction. */
export type Tx = Parameters<Parameters<Database['orm']['transaction']>[0]>[0];

/** What a store function runs its queries on: the pool or a transaction. */
export type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update' | 'delete' | 'execute'>;

export interface DatabaseOptions {
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  /** Connections of this process at most; 10 unless said otherwise. */
  max?: number;
  /** A statement that takes longer is cancelled (SQLSTATE 57014, which answers 503). */
  statementTimeoutMs?: number;
  /** Other server settings of each connection, for example `{ plan_cache_mode: 'force_generic_plan' }`. */
  settings?: Record<string, string>;
}

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the database did not answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * A connection pool. Nothing connects before the first query. When the server goes away, running
 * queries reject at once (503 by `toProblem`) and later ones connect anew.
 */
export const openDatabase = ({
  url,
  name,
  max = 10,
  statementTimeoutMs = 5000,
  settings = {},
}: DatabaseOptions): Database => {
  const instance = `${name}:${randomUUID().slice(0, 8)}`;
  const pool = postgres(url, {
    max,
    connect_timeout: 5,
    // The default waits up to 20 s between attempts; a database that is back should be found at once.
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1) * (0.5 + Math.random() / 2),
    onnotice: () => undefined,
    connection: {
      application_name: instance,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 10_000,
      ...settings,
    },
  });
  const sql = spanTransactions(pool);
  const ping = async (ms = 1000) => {
    await within(ms, sql`select 1`);
  };
  const connections = () =>
    within(
      1000,
      sql<{ state: string; count: number }[]>`
        select coalesce(state, 'unknown') as state, count(*)::int as count
        from pg_stat_activity where application_name = ${instance} group by 1`,
    );
  return {
    sql,
    orm: drizzle(sql),
    max,
    ping,
    connections,
    [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }),
  };
};
