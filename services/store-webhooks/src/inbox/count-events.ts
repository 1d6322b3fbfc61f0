import type { Sql } from 'postgres';
import type { ResultState } from '../db/tables.ts';
import { firstIdOf } from './event.ts';

const dayMs = 86_400_000;

/**
 * Reading all of a long queue takes the database longest just when it has most to do. So only this many events are
 * counted, those that are due first; PostgreSQL's statistics say how many there are in all.
 */
const maxCounted = 10_000;

/** Events that wait to be processed. */
export interface Backlog {
  count: number;
  /** Age of the oldest in seconds; 0 if there is none. */
  seconds: number;
}

/** The events that are still to be processed; an estimate above 10,000. */
export const countPending = async (sql: Sql): Promise<Backlog> => {
  const [row] = await sql<[Backlog]>`
    with waiting as (
      (select queued_at from queue where crashes <= 2 order by due_at limit ${maxCounted})
      union all (select queued_at from queue where crashes > 2 order by due_at limit ${maxCounted}))
    select coalesce(extract(epoch from now() - min(queued_at)), 0)::float8 as seconds,
      case when count(*) < ${maxCounted} then count(*)
        else (select greatest(n_live_tup, ${maxCounted}) from pg_stat_all_tables where relid = 'queue'::regclass)
      end::int as count
    from waiting`;
  return row;
};

/**
 * The events that came to this end within the day before `now`, of all stores. They were received at most `lateMs` before
 * that day.
 */
export const countEndedOfDay = async (
  sql: Sql,
  state: ResultState,
  now: Date,
  lateMs: number,
): Promise<number> => {
  const since = now.getTime() - dayMs;
  // Store by store, because the index of results begins with the store. Ids limit what is read of it.
  const [row] = await sql<[{ count: number }]>`
    select count(r.id)::int as count from stores s cross join lateral (
      select id from results where store_id = s.id and state = ${state} and state <> 'done'
        and id >= ${firstIdOf(new Date(since - lateMs))} and finished_at >= ${new Date(since).toISOString()}
    ) r`;
  return row.count;
};

/** More tests in a day than a POS sends while it is connected, and the ignored events that they are counted among. */
const [manyTests, maxIgnored] = [5, 1000];

/**
 * The stores of which at least five different events since `from` were taken for tests of their POS: perhaps their mapping
 * fits nothing. A test that is repeated is a duplicate, and counts once.
 */
export const countStoresWithManyTests = async (sql: Sql, from: Date): Promise<number> => {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from stores s where ${manyTests} <= (
      select count(*) filter (where error = 'test_event') from (
        select error from results where store_id = s.id and state = 'ignored' and id >= ${firstIdOf(from)}
        order by id desc limit ${maxIgnored}) newest)`;
  return row.count;
};
