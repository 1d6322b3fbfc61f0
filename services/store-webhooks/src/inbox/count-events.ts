import type { Sql } from 'postgres';
import type { ResultState } from '../db/tables.ts';
import { firstIdOf } from './event.ts';

const dayMs = 86_400_000;

/**
 * Counting a long queue takes longest exactly when the database is busiest. So at most this many events are counted, those
 * that are due first; the total of a longer queue comes from PostgreSQL's statistics.
 */
const maxCounted = 10_000;

/** Events that wait to be processed. */
export interface Backlog {
  count: number;
  /** Age of the oldest in seconds; 0 if there is none. */
  seconds: number;
}

/** Counts the events that are still to be processed; an estimate above 10,000. */
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
 * Counts the events of all stores that ended in `state` within the day before `now`. Only events that were received at most
 * `lookBackMs` before that day are counted.
 */
export const countEndedInLastDay = async (
  sql: Sql,
  state: ResultState,
  now: Date,
  lookBackMs: number,
): Promise<number> => {
  const since = now.getTime() - dayMs;
  // Store by store, because the index of results begins with the store. The lowest id limits how much of it is read.
  const [row] = await sql<[{ count: number }]>`
    select count(r.id)::int as count from stores s cross join lateral (
      select id from results where store_id = s.id and state = ${state} and state <> 'done'
        and id >= ${firstIdOf(new Date(since - lookBackMs))} and finished_at >= ${new Date(since).toISOString()}
    ) r`;
  return row.count;
};

/** More test events in a day than a POS sends while it is being set up, and how many ignored events are searched for them. */
const [manyTests, maxIgnored] = [5, 1000];

/**
 * Counts the stores with at least five different events since `from` that were taken for test events of their POS: their
 * mapping may not fit any event. A repeated test event is a duplicate and counts once.
 */
export const countStoresWithManyTests = async (sql: Sql, from: Date): Promise<number> => {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from stores s where ${manyTests} <= (
      select count(*) filter (where error = 'test_event') from (
        select error from results where store_id = s.id and state = 'ignored' and id >= ${firstIdOf(from)}
        order by id desc limit ${maxIgnored}) newest)`;
  return row.count;
};
