import type { ISql } from 'postgres';
import { latestCredible } from '../db/now.ts';
import { countedEntries, countedSums } from './queries.ts';

export interface CounterViolation {
  kind: 'limit_counter_differs' | 'limit_window_differs';
  playerId: string;
  transactionId: null;
  detail: string;
}

/** Entries before a period that are compared with its beginning: times are in the order of the entries. */
const entriesBefore = 500;

/**
 * Computes the counters of those of the players who have limits again from their entries: what is used of each period,
 * and that no entry was counted as before a period that it belongs to. Reads the entries of the periods.
 */
export const checkCounters = (sql: ISql, playerIds: readonly string[], most: number) => sql<
  CounterViolation[]
>`
  with boundary as (
    select player_id, period, after_seq, case when period <> 'session' then since end as since,
      player.wagered - limit_windows.wagered as wagered, player.lost - limit_windows.lost as lost
    from limit_windows join players player using (player_id) where player_id = any (${playerIds as string[]})
  ), starts as (
    select player_id, array_agg(after_seq + 1 order by after_seq) as seqs from boundary group by player_id
  ), segments as (
    select player_id, segment, ${countedSums(sql)},
      -- Later entries are from a time when the clock ran ahead.
      max(at) filter (where at <= ${sql.unsafe(latestCredible('now()'))}) as newest
    from (
      select e.player_id, width_bucket(e.seq, starts.seqs) as segment, e.at, e.operation, e.amount, e.reversed
      from (${countedEntries(
        sql,
        sql`(
        select entries.* from starts join entries
          on entries.player_id = starts.player_id and entries.seq >= starts.seqs[1] - ${entriesBefore}::int)`,
      )}) e join starts on starts.player_id = e.player_id
    ) counted
    group by player_id, segment
  ), actual as (
    select boundary.*, sums.* from boundary join starts on starts.player_id = boundary.player_id
      cross join lateral (
        select coalesce(sum(wagered) filter (where is_in), 0), coalesce(sum(lost) filter (where is_in), 0),
          max(newest) filter (where not is_in)
        from (
          select *, segment >= array_position(starts.seqs, boundary.after_seq + 1) as is_in from segments
          where segments.player_id = boundary.player_id
        ) placed
      ) sums (actual_wagered, actual_lost, newest)
  ), found as (
    select 'limit_counter_differs' as kind, player_id, concat(period, ': wagered ', wagered, ', lost ', lost,
      '; sums of the entries ', actual_wagered, ', ', actual_lost) as detail
    from actual where (wagered, lost) is distinct from (actual_wagered, actual_lost)
    union all
    select 'limit_window_differs', player_id, period || ': begins after an entry of ' || newest
    from actual where newest >= since
  )
  select kind, player_id as "playerId", null as "transactionId", detail
  from found order by kind, player_id limit ${most}`;
