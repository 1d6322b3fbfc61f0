import type { ISql, Sql } from 'postgres';
import { type Fragment } from '../db/sql.ts';
import type { Missing } from './missing.ts';

/**
 * Transactions of rounds that are missing in any reconciliation, and were neither applied nor received since. Of each
 * round, those of `transactionIds`, which are to be repaired, and the earliest of all others, by time and without times.
 */
export const missingInRounds = (
  sql: Sql,
  playerIds: string[],
  roundIds: string[],
  transactionIds: string[],
): Promise<Missing[]> => {
  const earliest = (time: Fragment) => sql`
    select distinct on (player_id, round_id, repaired_id, at is null)
      number, player_id as "playerId", transaction_id as "transactionId", there
    from missing
    order by player_id, round_id, repaired_id, at is null, ${time} closes, place, number`;
  return sql<Missing[]>`
    with missing as (
      select number, player_id, transaction_id, there, there ->> 'roundId' as round_id,
        (there ->> 'time')::timestamptz as at, coalesce((there ->> 'roundClosed')::boolean, false) as closes,
        array_position(array['debit', 'credit', 'rollback'], there ->> 'operation') as place,
        case when transaction_id = any (${transactionIds}::text[]) then transaction_id end as repaired_id
      from reconciliation_differences missing join reconciliations using (reconciliation_id)
      where kind = 'missing_here' and state <> 'applied' and failure is null
        and player_id = any (${playerIds}::text[]) and there ->> 'roundId' = any (${roundIds}::text[])
        and not exists (select from entries received where received.transaction_id = missing.transaction_id
          and received.player_id = missing.player_id and received.id_space <> 'operator'
          and received.operation <> 'tombstone' offset 0)
    )
    (${earliest(sql`at,`)}) union all (${earliest(sql``)})`;
};

/**
 * Whether the time before the period of a reconciliation was compared, as long as the period and at most 24 hours, and no
 * statement of an earlier time is still being compared: a bet of that time that is missing here is known.
 */
export const isTimeBeforeCompared = async (sql: Sql, id: string): Promise<boolean> => {
  const [row] = await sql<{ compared: boolean }[]>`
    select not bool_or(other.step in ('receiving', 'lines')) and coalesce(
        range_agg(tstzrange(other.period_from, other.period_to)) filter (where other.step in ('removing', 'ended'))
          @> tstzrange(this.period_from - least(this.period_to - this.period_from, interval '24 hours'), this.period_from),
        false) as compared
    from reconciliations this join reconciliations other on other.period_from < this.period_from
    where this.reconciliation_id = ${id} and other.failure is null
    group by this.reconciliation_id`;
  return row?.compared ?? false;
};

/**
 * Whether `line` of the statement of `run` may give the transaction of `entry` to another player, where ids are unique
 * for each player only, and that player does not have it.
 */
export const isOfAnotherPlayer = (sql: ISql) => sql`entry.transaction_id = line.transaction_id
  and entry.id_space <> line.id_space and starts_with(entry.id_space, 'player/') and starts_with(line.id_space, 'player/')
  and entry.operation in (line.operation, 'tombstone')
  and (entry.round_id = line.round_id or entry.at >= run.period_from - make_interval(secs => run.tolerance_s)
    and entry.at < run.period_to + make_interval(secs => run.tolerance_s))
  and not exists (select from entries own
    where own.transaction_id = line.transaction_id and own.id_space = line.id_space offset 0)`;

/**
 * Differences whose transaction has arrived for another player since the statement was received, as a late retry does.
 * The comparison judged earlier entries, when it had the lines. Not those whose statement has the transactions of both.
 */
export const receivedForOthers = async (
  sql: Sql,
  id: string,
  numbers: readonly number[],
): Promise<Set<number>> => {
  const rows = await sql<{ number: number }[]>`
    select number from reconciliations run join lateral (
        select number, transaction_id, there ->> 'operation' as operation, there ->> 'roundId' as round_id,
          'player/' || player_id as id_space
        from reconciliation_differences
        where reconciliation_id = run.reconciliation_id and number = any (${numbers as number[]}::int[])
          and kind = 'missing_here' and state <> 'applied'
      ) line on true
    where run.reconciliation_id = ${id} and exists (select from entries entry where ${isOfAnotherPlayer(sql)}
      -- The time of an entry is that at which its batch began.
      and entry.at > run.created_at - interval '1 minute'
      and not exists (select from reconciliation_differences own where own.reconciliation_id = ${id}
        and own.transaction_id = entry.transaction_id and own.player_id = entry.player_id offset 0) offset 0)`;
  return new Set(rows.map(({ number }) => number));
};
