import type { Sql } from 'postgres';
import { countedSums } from './store.ts';

export interface CounterViolation {
  kind: 'limit_counter_differs' | 'limit_window_differs';
  playerId: string;
  transactionId: null;
  detail: string;
}

/**
 * Computes the counters of all players with limits again from their entries: the totals, the sums before each period,
 * and that no entry was counted as before a period that it belongs to.
 */
export const checkCounters = (sql: Sql, most: number) => sql<CounterViolation[]>`
  with boundary as (
    select player_id, 'total' as period, seq as after_seq, wagered, lost, null::timestamptz as since
    from players where limits_until is not null
    union all
    select player_id, period, after_seq, wagered, lost, case when period <> 'session' then since end from limit_windows
  ), counted as (
    -- A join of whole tables: when all players have limits, look-ups for each entry would take minutes.
    select e.player_id, e.seq, e.at, e.operation, e.amount, reversal.player_id is not null as reversed
    from entries e
      left join entries reversal on reversal.reverses = e.transaction_id and reversal.id_space = e.id_space
        and reversal.operation = 'rollback' and reversal.amount > 0 and e.operation = 'debit'
    where e.player_id in (select player_id from boundary)
  ), actual as (
    select boundary.*, sums.actual_wagered, sums.actual_lost, sums.newest
    from boundary join (
      select boundary.player_id, boundary.period, ${countedSums(sql, 'counted')}, max(at) as newest
      from boundary left join counted on counted.player_id = boundary.player_id and counted.seq <= boundary.after_seq
      group by boundary.player_id, boundary.period
    ) sums (player_id, period, actual_wagered, actual_lost, newest)
      on sums.player_id = boundary.player_id and sums.period = boundary.period
  ), found as (
    select 'limit_counter_differs' as kind, player_id, period || ': wagered ' || wagered || ', lost ' || lost
      || '; sums of the entries ' || actual_wagered || ', ' || actual_lost as detail
    from actual where (wagered, lost) is distinct from (actual_wagered, actual_lost)
    union all
    select 'limit_window_differs', player_id, period || ': begins after an entry of ' || newest
    from actual where newest >= since
  )
  select kind, player_id as "playerId", null as "transactionId", detail
  from found order by kind, player_id limit ${most}`;
