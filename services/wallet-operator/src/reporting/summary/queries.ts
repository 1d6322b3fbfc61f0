import type { Page } from '@platform/pagination/list';
import type { ISql, Sql } from 'postgres';
import type { z } from 'zod';
import { decimalOf, firstValue, type Fragment } from '../../db/sql.ts';
import type { SummaryLine } from './schema.ts';

export type SummaryRow = z.input<typeof SummaryLine>;

const midnight = (sql: ISql, day: string, plus = 0) =>
  sql`((${day}::date + ${plus}::int)::timestamp at time zone 'UTC')`;

/**
 * SQL: rows as in `daily_sums` for the days from `open` to `to` (at most today), computed from the entries of these days and
 * the stored closing of the day before `open`.
 */
export const openDays = (sql: ISql, open: string, to: string) => {
  const isOfDays = (at: Fragment) => sql`${at} >= ${midnight(sql, open)} and ${at} < ${midnight(sql, to, 1)}`;
  const dayOf = (at: Fragment) => sql`(${at} at time zone 'UTC')::date`;
  return sql`(
    with moved as (
      select day, currency, coalesce(game_code, '') as game_code,
        (count(*) filter (where operation <> 'tombstone'))::int as entries,
        coalesce(-sum(amount) filter (where operation = 'debit'), 0) as bets,
        coalesce(sum(amount) filter (where operation = 'credit'), 0) as wins,
        coalesce(sum(amount) filter (where operation = 'rollback'), 0) as reversals,
        coalesce(sum(amount) filter (where operation = 'deposit'), 0) as deposits,
        coalesce(-sum(amount) filter (where operation = 'withdrawal'), 0) as withdrawals,
        coalesce(sum(amount) filter (where operation = 'adjustment'), 0) as adjustments
      -- Without OFFSET 0 the planner expects as many days as times, and sorts instead of hashing.
      from (select ${dayOf(sql`at`)} as day, * from entries where ${isOfDays(sql`at`)} offset 0) e
        join players using (player_id)
      group by 1, 2, 3
    ), gifts as (
      select ${dayOf(sql`opened_at`)} as day, currency, e.game_code, sum(amount) as promotional
      from rounds r join players using (player_id)
        join entries e on e.player_id = r.player_id and e.seq = r.opened_seq
      where promotional and ${isOfDays(sql`opened_at`)}
      group by 1, 2, 3
    ), before as (
      select currency, game_code, closing from daily_sums where day = ${open}::date - 1
    ), sums as (
      select day, currency, game_code, coalesce(entries, 0) as entries, coalesce(bets, 0) as bets,
        coalesce(wins, 0) as wins, coalesce(promotional, 0) as promotional, coalesce(reversals, 0) as reversals,
        coalesce(deposits, 0) as deposits, coalesce(withdrawals, 0) as withdrawals,
        coalesce(adjustments, 0) as adjustments,
        coalesce(closing, 0) + coalesce(sum(wins + reversals + deposits + adjustments - bets - withdrawals)
          over (partition by currency, game_code order by day), 0) as closing
      from (select day::date from generate_series(${open}::date,
          least(${to}::date, ${dayOf(sql`now()`)}), interval '1 day') day) days
        cross join (select currency, game_code from moved union select currency, game_code from before) accounts
        left join moved using (day, currency, game_code)
        left join gifts using (day, currency, game_code)
        left join before using (currency, game_code)
    )
    select * from sums where entries > 0 or closing <> 0
  )`;
};

/** The first day without stored sums; null while the ledger is empty. */
export const firstOpenDay = (sql: ISql) =>
  firstValue(sql<[{ value: string | null }]>`
    select coalesce((select max(day) + 1 from daily_sums),
      (select (min(at) at time zone 'UTC')::date from entries))::text as value`);

/** Seconds since the end of the first day without stored sums; 0 while that day lasts, or the ledger is empty. */
export const overdueSeconds = (sql: ISql) =>
  // Before the first sums any of the oldest entries is exact enough; finding the oldest one would read all entries.
  firstValue(sql<[{ value: number }]>`
    select greatest(extract(epoch from now() - (open + 1)::timestamp at time zone 'UTC'), 0)::float8 as value
    from (select coalesce((select max(day) + 1 from daily_sums),
      (select (at at time zone 'UTC')::date from entries limit 1)) as open) first_open`);

/** The newest day whose entries are all written. Allows ten minutes, because batches take seconds and clocks may differ. */
export const newestFinishedDay = (sql: ISql) =>
  firstValue(sql<[{ value: string }]>`
    select ((now() at time zone 'UTC' - interval '10 minutes')::date - 1)::text as value`);

const lock = 4_218_333;

const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

/** Stores the sums of the first day without stored sums that has any, up to `to`. Returns whether there may be more days. */
const closeNextDay = (sql: Sql, to: string): Promise<boolean> =>
  sql.begin(async (tx) => {
    const isLocked = await firstValue(
      tx<[{ value: boolean }]>`select pg_try_advisory_xact_lock(${lock}) as value`,
    );
    const open = isLocked ? await firstOpenDay(tx) : null;
    if (open === null) return false;
    for (let day = open; day <= to; day = dayAfter(day)) {
      const { count } =
        await tx`insert into daily_sums (day, currency, game_code, entries, bets, wins, promotional, reversals,
          deposits, withdrawals, adjustments, closing) select * from ${openDays(tx, day, day)} days`;
      if (count > 0) return true;
    }
    return false;
  });

/** Stores the sums of the days up to `to`, each in its own transaction. Does nothing while another process does it. */
export const closeDays = async (sql: Sql, to: string): Promise<void> => {
  while (await closeNextDay(sql, to));
};

export interface SummaryFilter {
  from: string;
  to: string;
  by: 'currency' | 'game';
}

/**
 * The summary of the days `from` to `to`; one row more than the page holds. Reads entries only of days without stored sums;
 * `open` is the first of these.
 */
export const listSums = (
  sql: ISql,
  open: string | null,
  { from, to, by }: SummaryFilter,
  { limit, offset }: Pick<Page, 'limit' | 'offset'>,
) => {
  const isAllClosed = open === null || open > to;
  const total = (minor: Fragment) => decimalOf(sql, sql`sum(${minor})`);
  return sql<SummaryRow[]>`
    select day::text, currency, nullif(game, '') as "gameCode", sum(entries)::float8 as entries,
      ${total(sql`closing - wins - reversals - deposits - adjustments + bets + withdrawals`)} as opening, ${total(sql`bets`)} as bets,
      ${total(sql`wins`)} as wins, ${total(sql`promotional`)} as "promotionalWins",
      ${total(sql`reversals`)} as reversals, ${total(sql`bets - wins - reversals`)} as "grossRevenue",
      ${total(sql`deposits`)} as deposits, ${total(sql`withdrawals`)} as withdrawals,
      ${total(sql`adjustments`)} as adjustments, ${total(sql`closing`)} as closing,
      coalesce(day < ${open}, false) as complete
    from (
      select day, currency, game_code, entries, bets, wins, promotional, reversals, deposits, withdrawals, adjustments, closing
      from daily_sums where day between ${from} and ${to} and day < ${open}
      ${isAllClosed ? sql`` : sql`union all select * from ${openDays(sql, open, to)} open_days`}
    ) sums cross join lateral (select ${by === 'game' ? sql`game_code` : sql`''`} as game) account
    where day >= ${from}
    group by sums.day, currency, game order by sums.day, currency, game
    limit ${limit + 1} offset ${String(offset)}`;
};
