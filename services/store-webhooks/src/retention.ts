import { SafeError } from '@platform/service-kit/safe-error';
import type { Sql } from 'postgres';
import type { Env } from './env.ts';
import { firstIdOf } from './inbox/event.ts';
import { eraseStores } from './store-erasure.ts';

/** How the rows of a table age. */
interface Aging {
  /** The last of these days they were changed on or after stay; Infinity: all stay. */
  days: number;
  /** The column that orders them by age; there is an index on the store and it. */
  by: 'event_id' | 'id' | 'created_at';
  /** A condition on rows that may go. */
  ended?: string;
}

/**
 * The tables that grow. A finished event goes with its result, and no record before the events that it came from: a replay
 * would make it again, and notify again.
 */
export const retentionOf = (env: Env) => {
  const days = (setting: number) => Math.max(setting, env.INBOX_RETENTION_DAYS);
  return {
    results: { by: 'id', days: env.INBOX_RETENTION_DAYS },
    orders: { by: 'event_id', days: days(env.ORDER_RETENTION_DAYS) },
    members: { by: 'event_id', days: days(env.MEMBER_RETENTION_DAYS) },
    delivery_jobs: { by: 'event_id', days: days(env.DELIVERY_JOB_RETENTION_DAYS) },
    verifications: { by: 'event_id', days: days(env.VERIFICATION_RETENTION_DAYS) },
    import_jobs: { by: 'id', days: days(env.IMPORT_JOB_RETENTION_DAYS), ended: "state <> 'pending'" },
    notifications: { by: 'id', days: days(env.NOTIFICATION_RETENTION_DAYS), ended: "mail <> 'pending'" },
    payments: { by: 'created_at', days: days(env.PAYMENT_RETENTION_DAYS) },
    event_reveals: { by: 'id', days: days(env.REVEAL_RETENTION_DAYS) },
  } satisfies Record<string, Aging>;
};

const mostAtOnce = 1000;
const dayMs = 86_400_000;

/**
 * Deletes at most `atOnce` rows of a table, those of each store oldest first. The lock makes sure that none of them was
 * changed since it was chosen; what another instance has locked is left for the next slice.
 */
const pruneTable = async (
  sql: Sql,
  table: string,
  { by, ended = 'true' }: Aging,
  before: Date,
  atOnce: number,
) => {
  const limit = by === 'created_at' ? before.toISOString() : firstIdOf(before);
  const deletion = sql`
    delete from ${sql(table)} where ctid = any(array(
      select old.ctid from stores cross join lateral (
        select r.ctid from ${sql(table)} r
        where r.store_id = stores.id and r.${sql(by)} < ${limit} and ${sql.unsafe(ended)}
        order by r.${sql(by)} limit ${atOnce} for update skip locked) old
      limit ${atOnce}))`;
  const { count } = await (table === 'results'
    ? sql`
        with old as (${deletion} returning store_id, id)
        delete from events e using old where e.store_id = old.store_id and e.id = old.id`
    : deletion);
  return count === atOnce;
};

/** Deletes a slice of the rows of each table that are older than they are kept. Returns whether there may be more. */
export const prune = async (
  sql: Sql,
  tables: Partial<Record<string, Aging>>,
  now: Date,
  atOnce = mostAtOnce,
): Promise<boolean> => {
  let hasMore = false;
  for (const [table, aging] of Object.entries(tables))
    if (aging !== undefined && aging.days !== Infinity)
      hasMore =
        (await pruneTable(sql, table, aging, new Date(now.getTime() - aging.days * dayMs), atOnce)) ||
        hasMore;
  return hasMore;
};

/** Clocks that differ by more than this are not trusted with deleting rows. */
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
 * Returns the time of the database, or undefined for `pauseMs` after the start: the clocks may have been set wrong
 * while the instance was not running, and an operator should have time to correct them. Throws SafeError while the clocks
 * of database and machine differ, and for `pauseMs` after one was set.
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

/** How long a pass over all tables should take; a statement may take 5 s. */
const passMs = 2000;

/**
 * Returns a function that prunes all tables once, if the clocks can be trusted; true if there may be more to delete. Rows
 * may have a megabyte each: after a pass that took long, or failed for that, the slices of the next one are smaller.
 */
export const createPruning = (sql: Sql, env: Env) => {
  const check = createClockCheck(env.PRUNE_PAUSE_MS);
  const tables = retentionOf(env);
  let atOnce = mostAtOnce;
  return async (): Promise<boolean> => {
    const [{ database }] = await sql<[{ database: number }]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as database`;
    const now = check({ database, machine: Date.now(), monotonic: performance.now() });
    if (now === undefined) return false;
    const begun = performance.now();
    try {
      const hasMore = await prune(sql, tables, now, atOnce);
      // Last, so that a store that cannot be erased does not keep the other rows from being deleted.
      const before = new Date(now.getTime() - env.STORE_ERASE_DAYS * dayMs);
      return (await eraseStores(sql, before, atOnce)) || hasMore;
    } finally {
      const fitting = Math.floor((atOnce * passMs) / (performance.now() - begun));
      atOnce = Math.min(mostAtOnce, Math.max(1, fitting));
    }
  };
};
