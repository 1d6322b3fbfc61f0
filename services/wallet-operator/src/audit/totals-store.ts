import type { Sql } from 'postgres';

/** Sums of a day in minor units, as digits. */
export interface DayTotals {
  day: string;
  currency: string;
  stakes: string;
  wins: string;
  reversals: string;
  grossRevenue: string;
  deposits: string;
  withdrawals: string;
  entries: number;
}

/** Sums of the ledger for each day and currency, from the first to the last day (UTC). Reads only entries of these days. */
export const readTotals = (sql: Sql, from: string, to: string) => sql<DayTotals[]>`
  select day::text, currency, stakes, wins, reversals, stakes - wins - reversals as "grossRevenue", deposits,
    withdrawals, entries
  from (
    select (entries.at at time zone 'UTC')::date as day, currency,
      coalesce(-sum(amount) filter (where operation = 'debit'), 0) as stakes,
      coalesce(sum(amount) filter (where operation = 'credit'), 0) as wins,
      coalesce(sum(amount) filter (where operation = 'rollback'), 0) as reversals,
      coalesce(sum(amount) filter (where operation = 'deposit'), 0) as deposits,
      coalesce(-sum(amount) filter (where operation = 'withdrawal'), 0) as withdrawals,
      (count(*) filter (where operation <> 'tombstone'))::int as entries
    from entries join players using (player_id)
    where entries.at >= ${from}::date::timestamp at time zone 'UTC'
      and entries.at < (${to}::date + 1)::timestamp at time zone 'UTC'
    group by 1, 2
  ) days
  order by days.day, currency`;
