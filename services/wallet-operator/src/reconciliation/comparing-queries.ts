import type { TransactionSql } from 'postgres';
import { decimalOf, isoTime, type Fragment } from '../db/sql.ts';
import { isOfAnotherPlayer } from './repair-queries.ts';
import type { Run } from './run-queries.ts';

/** SQL: a `Side` as JSON, from a line of the statement or from our entry. */
const sideOf = (tx: TransactionSql, alias: 'line' | 'entry', line: Fragment, currency: Fragment) => {
  const side = tx(alias);
  return tx`jsonb_build_object('line', ${line}, 'playerId', ${side}.player_id, 'operation', ${side}.operation,
    'amount', ${decimalOf(tx, tx`abs(${side}.amount)`)}, 'currency', ${currency}, 'roundId', ${side}.round_id,
    'gameCode', ${side}.game_code, 'roundClosed', ${side}.round_closed, 'reverseTransactionId', ${side}.reverses,
    'time', ${isoTime(tx, tx`${side}.at`)})`;
};

const sideOfLine = (tx: TransactionSql) => sideOf(tx, 'line', tx`line.line`, tx`line.currency`);
const sideOfEntry = (tx: TransactionSql) => sideOf(tx, 'entry', tx`null::int`, tx`player.currency`);

/** SQL: whether a repair wrote the entry. The time of the entry is then that of the repair, not of the transaction. */
const isRepair = (tx: TransactionSql) => tx`exists (select from reconciliation_differences repaired
  where repaired.repair_transaction_id = entry.transaction_id and repaired.player_id = entry.player_id offset 0)`;

/**
 * SQL: whether `line` is the transaction of `entry` under another player, when ids are unique for each player only. The same
 * id of two players counts as one transaction if neither side has it for both players: asking the game server is better
 * than paying twice.
 */
const isMisnamed = (tx: TransactionSql, id: string) => tx`${isOfAnotherPlayer(tx)}
  and not exists (select from reconciliation_lines own where own.reconciliation_id = ${id}
    and own.transaction_id = entry.transaction_id and own.id_space = entry.id_space and not own.is_repeated offset 0)`;

/**
 * SQL: the kinds of difference between a line and the entry with its transaction id, separated by commas. `equal` means that
 * both move the same amount; these lines are only counted.
 *
 * A debit and its rollback cancel out, so a side with both has the same money as a side with neither. A line without an
 * entry is a difference in these cases:
 * - credit: always
 * - debit: unless the statement reverses it
 * - rollback: if we have its debit, or if neither side has the debit, which may then arrive later and would stand
 */
const kindsOf = (tx: TransactionSql, id: string) => tx`case
  when line.is_repeated then 'duplicate'
  when entry.player_id is null or entry.operation = 'tombstone' then case when case line.operation
      when 'credit' then true
      when 'debit' then not exists (select from reconciliation_lines reversal
        where reversal.reconciliation_id = ${id} and reversal.reverses = line.transaction_id
          and reversal.id_space = line.id_space and reversal.player_id = line.player_id offset 0)
      else not exists (select from entries reversal where reversal.reverses = line.reverses
          and reversal.id_space = line.id_space and reversal.operation = 'rollback' and reversal.amount > 0 offset 0)
        and coalesce((select debit.operation = 'debit' from entries debit
            where debit.transaction_id = line.reverses and debit.id_space = line.id_space offset 0),
          not exists (select from reconciliation_lines debit where debit.reconciliation_id = ${id}
            and debit.transaction_id = line.reverses and debit.id_space = line.id_space and not debit.is_repeated
            offset 0))
      end then 'missing_here' end
  when entry.operation <> line.operation then 'parameters'
  else concat_ws(',',
    case when line.player_id <> entry.player_id then 'player'
      when line.currency <> player.currency then 'currency' end,
    case when line.round_id <> coalesce(entry.named_round_id, entry.round_id) or line.game_code <> entry.game_code
      or line.reverses <> entry.reverses then 'parameters' end,
    case when line.amount = abs(entry.amount) then case when line.amount > 0 then 'equal' end
      -- A rollback of 0 found nothing to reverse here.
      when entry.operation <> 'rollback' or entry.amount <> 0 then case when line.amount is not null then 'amount' end end,
    case when line.operation = 'debit' then null
      when line.round_closed and entry.round_closed is not true and exists (select from rounds
        where rounds.player_id = entry.player_id and rounds.round_id = entry.round_id
          and rounds.closed_at is null offset 0) then 'round_state'
      when not line.round_closed and entry.round_closed then 'round_state' end,
    case when abs(extract(epoch from line.at - entry.at)) > run.tolerance_s
      and not ${isRepair(tx)} then 'time' end)
  end`;

/**
 * Compares the lines up to `to` with the entries that have their transaction ids, and stores the differences.
 *
 * Leaves out differences outside of the period. Our entry's time decides; if there is no entry, or a repair wrote it, the
 * line's time does.
 */
export const compareLines = async (tx: TransactionSql, { id, lineDone }: Run, to: number): Promise<void> => {
  await tx`
    with run as (select * from reconciliations where reconciliation_id = ${id}),
    found as (
      select line.line, line.transaction_id, kind, line.player_id, player.currency,
        case when kind <> 'equal' then ${sideOfLine(tx)} end as there,
        case when kind <> 'equal' and entry.player_id is not null then ${sideOfEntry(tx)} end as here,
        case
          when kind = 'missing_here' and entry.player_id is null and player.player_id is not null
            and coalesce(line.currency, player.currency) = player.currency
            and line.round_id is not null and line.game_code is not null
            and (line.operation = 'debit' or line.round_closed is not null) then 'apply'
          when kind = 'round_state' and line.round_closed then 'close_round'
          else 'ask_game_server' end as repair
      from run cross join reconciliation_lines line
        left join lateral (
          select * from entries where transaction_id = line.transaction_id and id_space = line.id_space
          union all
          select * from entries entry where ${isMisnamed(tx, id)} limit 1
        ) entry on true
        left join players player on player.player_id = coalesce(entry.player_id, line.player_id)
        cross join lateral string_to_table(${kindsOf(tx, id)}, ',') kind
      where line.reconciliation_id = ${id} and line.line > ${lineDone} and line.line <= ${to}
        and case when kind <> 'equal' then tstzrange(run.period_from, run.period_to) @> coalesce(
          case when entry.operation <> 'tombstone' and not ${isRepair(tx)} then entry.at end, line.at, run.period_from)
          else true end
    ), inserted as (
      insert into reconciliation_differences
        (reconciliation_id, number, kind, player_id, transaction_id, there, here, repair)
      select ${id}, run.differences + row_number() over (order by line, kind), kind, player_id, transaction_id, there,
        here, repair
      from found cross join run where kind <> 'equal'
      returning 1
    )
    update reconciliations set differences = differences + (select count(*) from inserted),
      equal_amounts = equal_amounts || (
        select coalesce(jsonb_object_agg(currency, amounts + coalesce((equal_amounts ->> currency)::int, 0)), '{}')
        from (select currency, count(*) as amounts from found where kind = 'equal' group by currency) equal),
      line_done = ${to}, failed_attempts = 0, touched_at = now()
    where reconciliation_id = ${id}`;
};

/**
 * Looks up our entries since `entriesDone` and before `to` (and the end of the period) in the statement, and stores those
 * that it lacks as differences. Returns the number of entries.
 *
 * An entry that a repair wrote is looked up at the time that the repaired statement contained. If that statement had no
 * times, its whole period must lie in this one's. If several reconciliations repaired the entry, the newest one decides.
 *
 * These entries are not stored as differences:
 * - an entry that a line names under another player
 * - a debit that is reversed here or in the statement
 * - a rollback that moved nothing, whose debit the statement also reverses, or whose debit is of the period and missing too
 */
export const compareEntries = async (
  tx: TransactionSql,
  { id, entriesDone }: Run,
  to: Date,
): Promise<number> => {
  const [row] = await tx<{ count: number }[]>`
    with run as (select *, least(period_to, ${to.toISOString()}::timestamptz) as slice_end
      from reconciliations where reconciliation_id = ${id}),
    applied as materialized (
      select repaired.repair_transaction_id, repaired.player_id
      from reconciliation_differences repaired
        join reconciliations claimed on claimed.reconciliation_id = repaired.reconciliation_id
        cross join run
        cross join lateral (select (repaired.there ->> 'time')::timestamptz as at) line
      where repaired.repair_transaction_id is not null and repaired.repair = 'apply'
        and coalesce(line.at, claimed.period_from) >= ${entriesDone}::timestamptz
        and coalesce(line.at, claimed.period_from) < run.slice_end
        and (line.at is not null or claimed.period_to <= run.period_to)
        and not exists (select from reconciliation_differences newer
          where newer.repair_transaction_id = repaired.repair_transaction_id and newer.player_id = repaired.player_id
            and newer.repair = 'apply' and newer.reconciliation_id > repaired.reconciliation_id)
    ), entry as materialized (
      select *, false as is_applied from entries
      where at >= ${entriesDone}::timestamptz and at < (select slice_end from run)
        and operation in ('debit', 'credit', 'rollback')
      union all
      select repaired.*, true from applied cross join lateral (
        select * from entries
        where transaction_id = applied.repair_transaction_id and player_id = applied.player_id
          and operation in ('debit', 'credit', 'rollback') offset 0) repaired
    ), found as (
      select entry.transaction_id, entry.player_id, entry.at, ${sideOfEntry(tx)} as here
      from entry join players player on player.player_id = entry.player_id cross join run
      where not exists (select from reconciliation_lines line where line.reconciliation_id = ${id}
          and line.transaction_id = entry.transaction_id and line.id_space = entry.id_space and not line.is_repeated
          offset 0)
        and not exists (select from reconciliation_lines line where line.reconciliation_id = ${id}
          and not line.is_repeated and ${isMisnamed(tx, id)} offset 0)
        and case entry.operation
          when 'credit' then true
          when 'debit' then not exists (select from entries reversal where reversal.reverses = entry.transaction_id
              and reversal.id_space = entry.id_space and reversal.operation = 'rollback' and reversal.amount > 0 offset 0)
            and not exists (select from reconciliation_lines reversal where reversal.reconciliation_id = ${id}
              and reversal.reverses = entry.transaction_id and reversal.id_space = entry.id_space offset 0)
          else entry.amount > 0
            and not exists (select from reconciliation_lines reversal where reversal.reconciliation_id = ${id}
              and reversal.reverses = entry.reverses and reversal.id_space = entry.id_space offset 0)
            and (exists (select from reconciliation_lines debit where debit.reconciliation_id = ${id}
                and debit.transaction_id = entry.reverses and debit.id_space = entry.id_space and not debit.is_repeated
                offset 0)
              or exists (select from entries debit where debit.transaction_id = entry.reverses
                and debit.id_space = entry.id_space
                and debit.at < run.period_from - make_interval(secs => run.tolerance_s) offset 0))
          end
        and (entry.is_applied or not ${isRepair(tx)})
    ), inserted as (
      insert into reconciliation_differences
        (reconciliation_id, number, kind, player_id, transaction_id, here, repair)
      select ${id}, run.differences + row_number() over (order by found.at, found.transaction_id), 'missing_there',
        player_id, transaction_id, here, 'ask_game_server'
      from found cross join run
      returning 1
    )
    update reconciliations set differences = differences + (select count(*) from inserted),
      entries_done = (select slice_end from run), failed_attempts = 0, touched_at = now()
    where reconciliation_id = ${id}
    returning (select count(*)::int from entry) as count`;
  return row?.count ?? 0;
};

/**
 * Whether most amounts of a currency differ from ours by the same factor, so the statement is in another unit or currency.
 * A single amount counts only with the factors 100 and 0.01 (cents). Ignores amounts of 0.
 */
export const hasOneFactor = async (tx: TransactionSql, { id }: Run): Promise<boolean> => {
  const rows = await tx`
    with factor as (
      -- Minor units, because quotients of integers below 2^53 are exactly equal for the same factor.
      select here ->> 'currency' as currency, count(*) as amounts,
        replace(there ->> 'amount', '.', '')::float8 / replace(here ->> 'amount', '.', '')::float8 as factor
      from reconciliation_differences
      where reconciliation_id = ${id} and kind = 'amount' and '0.00' not in (there ->> 'amount', here ->> 'amount')
      group by 1, 3
    ), compared as (
      select *, sum(amounts) over (partition by currency) + coalesce((equal_amounts ->> currency)::int, 0) as of_currency
      from factor cross join reconciliations where reconciliation_id = ${id}
    )
    select from compared where 2 * amounts > of_currency and (amounts > 1 or factor in (100, 0.01)) limit 1`;
  return rows.length > 0;
};
