import { SafeError } from '@platform/service-kit/safe-error';
import type { Sql } from 'postgres';
import type { Env } from './env.ts';
import { firstIdOf } from './inbox/event.ts';
import { eraseStores } from './store-erasure.ts';

/** How long the rows of a table are kept. */
interface Retention {
  /** Rows are kept for this many days after their last change; Infinity: forever. */
  days: number;
  /** The column that sorts the rows by age; it has an index after the store. */
  ageColumn: 'event_id' | 'id' | 'created_at';
  /** SQL condition: only these rows may be deleted. */
  deletable?: string;
}

/**
 * Retention of the tables that grow. An event is deleted together with its result. A record is not deleted before the events
 * that it came from, because a replay would create it again and notify again.
 */
export const retentionOf = (env: Env) => {
  const days = (setting: number) => Math.max(setting, env.INBOX_RETENTION_DAYS);
  return {
    results: { ageColumn: 'id', days: env.INBOX_RETENTION_DAYS },
    orders: { ageColumn: 'event_id', days: days(env.ORDER_RETENTION_DAYS) },
    members: { ageColumn: 'event_id', days: days(env.MEMBER_RETENTION_DAYS) },
    delivery_jobs: { ageColumn: 'event_id', days: days(env.DELIVERY_JOB_RETENTION_DAYS) },
    verifications: { ageColumn: 'event_id', days: days(env.VERIFICATION_RETENTION_DAYS) },
    import_jobs: {
      ageColumn: 'id',
      days: days(env.IMPORT_JOB_RETENTION_DAYS),
      deletable: "state <> 'pending'",
    },
    notifications: {
      ageColumn: 'id',
      days: days(env.NOTIFICATION_RETENTION_DAYS),
      deletable: "mail <> 'pending'",
    },
    payments: { ageColumn: 'created_at', days: days(env.PAYMENT_RETENTION_DAYS) },
    event_reveals: { ageColumn: 'id', days: days(env.REVEAL_RETENTION_DAYS) },
    // The settings that a change replaced decide how earlier events are shown, and those are deleted before it.
    store_changes: { ageColumn: 'id', days: days(env.REVEAL_RETENTION_DAYS) },
  } satisfies Record<string, Retention>;
};

const maxBatchSize = 1000;
const dayMs = 86_400_000;

/**
 * Deletes at most `batchSize` rows of a table, per store oldest first. The lock makes sure that no row was changed since it was
 * selected; rows that another instance has locked are left for the next batch.
 */
const pruneTable = async (
  sql: Sql,
  table: string,
  { ageColumn, deletable = 'true' }: Retention,
  before: Date,
  batchSize: number,
) => {
  const limit = ageColumn === 'created_at' ? before.toISOString() : firstIdOf(before);
  const deletion = sql`
    delete from ${sql(table)} where ctid = any(array(
      select old.ctid from stores cross join lateral (
        select r.ctid from ${sql(table)} r
        where r.store_id = stores.id and r.${sql(ageColumn)} < ${limit} and ${sql.unsafe(deletable)}
        order by r.${sql(ageColumn)} limit ${batchSize} for update skip locked) old
      limit ${batchSize}))`;
  const { count } = await (table === 'results'
    ? sql`
        with old as (${deletion} returning store_id, id)
        delete from events e using old where e.store_id = old.store_id and e.id = old.id`
    : deletion);
  return count === batchSize;
};

/** Deletes a batch of the expired rows of each table. Returns whether there may be more. */
export const prune = async (
  sql: Sql,
  tables: Partial<Record<string, Retention>>,
  now: Date,
  batchSize = maxBatchSize,
): Promise<boolean> => {
  let hasMore = false;
  for (const [table, retention] of Object.entries(tables))
    if (retention !== undefined && retention.days !== Infinity)
      hasMore =
        (await pruneTable(
          sql,
          table,
          retention,
          new Date(now.getTime() - retention.days * dayMs),
          batchSize,
        )) || hasMore;
  return hasMore;
};

/** If the clocks differ by more than this, nothing is deleted. */
const toleranceMs = 300_000;

interface Clocks {
  /** Time of the database. */
  database: number;
  /** Time of this machine. */
  machine: number;
  /** Monotonic time in milliseconds, which does not change when the system clock is set. */
  monotonic: number;
}

/**
 * Returns a function that returns the time of the database, or undefined for `pauseMs` after the start: the clocks may have been
 * set wrong while the instance was not running, and an operator should have time to correct them. It throws SafeError while
 * the clocks of database and machine differ, and for `pauseMs` after one was set.
 */
export const createClockCheck = (pauseMs: number) => {
  let last: Clocks | undefined;
  let pausedUntil = 0;
  let wasSet = false;
  return (clocks: Clocks): Date | undefined => {
    const { database, machine, monotonic } = clocks;
    if (Math.abs(database - machine) > toleranceMs)
      throw new SafeError('The clocks of the database and of this machine differ, so nothing is deleted.');
    const step = last === undefined ? 0 : database - last.database - (monotonic - last.monotonic);
    const isSet = Math.abs(step) > toleranceMs;
    if (last === undefined || isSet) [pausedUntil, wasSet] = [monotonic + pauseMs, isSet];
    last = clocks;
    if (monotonic >= pausedUntil) return new Date(database);
    if (wasSet) throw new SafeError('A clock was set, so nothing is deleted for a while (PRUNE_PAUSE_MS).');
    return undefined;
  };
};

/** Target duration of a pass over all tables; a statement may take 5 s. */
const passMs = 2000;

/**
 * Returns a function that deletes expired rows of all tables once, if the clocks can be trusted; it returns true if there may be
 * more to delete. A row may have a megabyte, so after a pass that was slow or timed out the next one uses smaller batches.
 */
export const createPruning = (sql: Sql, env: Env) => {
  const check = createClockCheck(env.PRUNE_PAUSE_MS);
  const tables = retentionOf(env);
  let batchSize = maxBatchSize;
  return async (): Promise<boolean> => {
    const [{ database }] = await sql<[{ database: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as database`;
    const now = check({ database, machine: Date.now(), monotonic: performance.now() });
    if (now === undefined) return false;
    const startedAt = performance.now();
    try {
      const hasMore = await prune(sql, tables, now, batchSize);
      // Stores come last, so that a store that cannot be erased does not prevent the deletion of other rows.
      const before = new Date(now.getTime() - env.STORE_ERASE_DAYS * dayMs);
      return (await eraseStores(sql, before, batchSize)) || hasMore;
    } finally {
      const fittingSize = Math.floor((batchSize * passMs) / (performance.now() - startedAt));
      batchSize = Math.min(maxBatchSize, Math.max(1, fittingSize));
    }
  };
};
