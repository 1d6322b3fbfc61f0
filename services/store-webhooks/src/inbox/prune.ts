import type { Sql } from 'postgres';
import { Failure } from '../tracker/failure.ts';

const atOnce = 1000;

/** The smallest UUIDv7 of a point in time; smaller ids were created earlier. */
export const firstIdOf = (at: Date): string => {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/**
 * Deletes some finished events that were received before `before`, oldest first. Returns whether
 * there may be more. Ids contain the time, so the primary key finds the events of each store.
 */
export const prune = async (sql: Sql, before: Date): Promise<boolean> => {
  const stores = await sql<{ id: string }[]>`select id from stores`;
  const limit = firstIdOf(before);
  let deleted = 0;
  for (const { id } of stores) {
    const { count } = await sql`
      delete from inbox where store_id = ${id} and id in (
        select id from inbox where store_id = ${id} and id < ${limit} and state <> 'pending'
        order by id limit ${atOnce})`;
    deleted = Math.max(deleted, count);
  }
  return deleted === atOnce;
};

/** Clocks that differ by more than this are not trusted with deleting events. */
const toleranceMs = 300_000;
/** How long nothing is deleted after a clock was set, so that an operator can correct it. */
const pauseMs = 3_600_000;

export interface Clocks {
  /** Time of the database. */
  database: number;
  /** Time of this machine. */
  machine: number;
  /** Monotonic time in milliseconds, which does not change when the system clock is set. */
  monotonic: number;
}

/**
 * Throws Failure while the clock of the database cannot be trusted: it differs from that of this machine, or it was
 * set during the last hour. Returns the time of the database otherwise.
 */
export const createClockCheck = () => {
  let first: Clocks | undefined;
  let pausedUntil = 0;
  return (clocks: Clocks): Date => {
    const { database, machine, monotonic } = clocks;
    if (Math.abs(database - machine) > toleranceMs)
      throw new Failure('The clocks of the database and of this machine differ, so no event is deleted.');
    const expected = first === undefined ? database : first.database + monotonic - first.monotonic;
    if (Math.abs(database - expected) > toleranceMs) pausedUntil = monotonic + pauseMs;
    if (first === undefined || pausedUntil > monotonic) first = clocks;
    if (monotonic < pausedUntil) throw new Failure('A clock was set, so no event is deleted for an hour.');
    return new Date(database);
  };
};

/** Returns a function that deletes some of the events older than `retentionMs`; true if there may be more. */
export const createPruning = (sql: Sql, retentionMs: number) => {
  const check = createClockCheck();
  return async (): Promise<boolean> => {
    const [row] = await sql<{ database: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as database`;
    const database = row?.database ?? Number.NaN;
    const now = check({ database, machine: Date.now(), monotonic: performance.now() });
    return prune(sql, new Date(now.getTime() - retentionMs));
  };
};
