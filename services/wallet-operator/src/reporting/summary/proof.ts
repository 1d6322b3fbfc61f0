import type { ISql } from 'postgres';
import { firstValue } from '../../db/sql.ts';
import { openDays } from './queries.ts';

/** The first day after `day` that has stored sums; null when there is none. */
export const nextStoredDay = (sql: ISql, day: string | null) =>
  firstValue(sql<[{ value: string | null }]>`
    select min(day)::text as value from daily_sums where day > coalesce(${day}::date, '-infinity')`);

/** Stored sums of the day that differ from its entries and the day before, as text: day, currency and game. */
export const differingSums = async (sql: ISql, day: string, limit: number): Promise<string[]> => {
  const rows = await sql<{ sum: string }[]>`
    with computed as (select * from ${openDays(sql, day, day)} days),
      stored as (select * from daily_sums where day = ${day})
    select distinct concat_ws(' ', day, currency, nullif(game_code, '')) as sum from (
      (table computed except table stored) union all (table stored except table computed)
    ) differing order by sum limit ${limit}`;
  return rows.map(({ sum }) => sum);
};
