import type { Sql } from 'postgres';
import { SafeError } from '@platform/service-kit/safe-error';
import { firstIdOf } from './event.ts';

const atOnce = 1000;

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
      with old as (
        delete from results where store_id = ${id} and id in (
          select id from results where store_id = ${id} and id < ${limit} order by id limit ${atOnce})
        returning id)
      delete from events where store_id = ${id} and id = any(array(select id from old))`;
    deleted = Math.max(deleted, count);
  }
  return deleted === atOnce;
};

/** Clocks that differ by more than this are not trusted with deleting events. */
const toleranceMs = 300_000;
export interface Clocks {
  /** Time of the database. */
  database: number;
  /** Time of this machine. */
  machine: number;
  /** Monotonic time in milliseconds, which does not change when the system clock is set. */
  monotonic: number;
}

/**
 * Returns the time of the database, or undefined for `pauseMs` after the start: the clocks may have been set wrong
 * while the process was not running, and an operator should have time to correct them. Throws SafeError while the clocks
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

/**
 * Returns a function that calls each of `steps` with the time, as long as the clocks can be trusted; true if one of them
 * may have more to delete.
 */
export const createPruning = (
  sql: Sql,
  pauseMs: number,
  steps: readonly ((now: Date) => Promise<boolean>)[],
) => {
  const check = createClockCheck(pauseMs);
  return async (): Promise<boolean> => {
    const [row] = await sql<{ database: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as database`;
    const database = row?.database ?? Number.NaN;
    const now = check({ database, machine: Date.now(), monotonic: performance.now() });
    let hasMore = false;
    if (now !== undefined) for (const step of steps) hasMore = (await step(now)) || hasMore;
    return hasMore;
  };
};
