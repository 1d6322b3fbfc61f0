import type { TransactionSql } from 'postgres';
import { openDays } from './queries.ts';

/** Rows of `daily_sums` that differ from the entries, as text: day, currency and game. Reads all entries. */
export const differingSums = async (snapshot: TransactionSql, limit: number): Promise<string[]> => {
  const [days] = await snapshot<[{ first: string; newest: string }?]>`
    select least(min(day), (select (min(at) at time zone 'UTC')::date from entries))::text as first,
      max(day)::text as newest from daily_sums having count(*) > 0`;
  if (days === undefined) return [];
  const rows = await snapshot<{ sum: string }[]>`
    with computed as (select * from ${openDays(snapshot, days.first, days.newest)} days)
    select distinct concat_ws(' ', day, currency, nullif(game_code, '')) as sum from (
      (table computed except table daily_sums) union all (table daily_sums except table computed)
    ) differing order by sum limit ${limit}`;
  return rows.map(({ sum }) => sum);
};
