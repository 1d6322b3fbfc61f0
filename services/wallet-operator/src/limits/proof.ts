import type { ISql } from 'postgres';
import { latestCredible } from '../db/time.ts';
import { countedEntries, countedSums } from './counters.ts';

export interface CounterViolation {
  kind: 'limit_counter_differs' | 'limit_window_differs';
  playerId: string;
  transactionId: null;
  detail: string;
}

/** Number of entries before a period whose times are checked; older ones are earlier, because times follow the order. */
const entriesBefore = 500;

/**
 * Compares the counters of players with their entries: the sums of each period, and that each period begins before all of its
 * entries. Reads the entries of the periods.
 */
export const checkCounters = (sql: ISql, playerIds: readonly string[], limit: number) => sql<
  CounterViolation[]
>`
  with boundary as (
    select player_id, period, after_seq, case when period <> 'session' then since end as since,
      player.wagered - limit_windows.wagered as wagered, player.lost - limit_windows.lost as lost
    from limit_windows join players player using (player_id) where player_id = any (${playerIds as string[]})
  ), actual as (
    select boundary.*, sums.wagered as actual_wagered, sums.lost as actual_lost, earlier.newest
    from boundary
      cross join lateral (
        select ${countedSums(sql)} from (
          ${countedEntries(sql)} where e.player_id = boundary.player_id and e.seq > boundary.after_seq
        ) counted
      ) sums
      cross join lateral (
        select max(at) as newest from entries
        where entries.player_id = boundary.player_id and seq <= after_seq and seq > after_seq - ${entriesBefore}::int
          -- Later entries are from a time when the clock ran ahead.
          and at <= ${sql.unsafe(latestCredible('now()'))}
      ) earlier
  ), found as (
    select 'limit_counter_differs' as kind, player_id, concat(period, ': wagered ', wagered, ', lost ', lost,
      '; sums of the entries ', actual_wagered, ', ', actual_lost) as detail
    from actual where (wagered, lost) is distinct from (actual_wagered, actual_lost)
    union all
    select 'limit_window_differs', player_id, period || ': begins after an entry of ' || newest
    from actual where newest >= since
  )
  select kind, player_id as "playerId", null as "transactionId", detail
  from found order by kind, player_id limit ${limit}`;
