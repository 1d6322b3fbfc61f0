import type { ISql, Sql } from 'postgres';
import type { z } from 'zod';
import { firstRow, isoTime, type Fragment } from '../db/sql.ts';
import type { RepairResult } from './difference.ts';
import { differenceColumns, type DifferenceView } from './queries.ts';
import type { DryRun, DryRunPath } from './schema.ts';

/** A transaction of the statement that our ledger lacks. */
export type Missing = Pick<DifferenceView, 'number' | 'playerId' | 'transactionId' | 'there'>;

/**
 * Transactions of these rounds that any reconciliation found missing, and that were neither repaired nor received since. For
 * each round: those of `transactionIds`, which are being repaired, and of the others only the earliest with a time, without
 * a time, and regardless of times.
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
    order by player_id, round_id, repaired_id, at is null, ${time} closes, operation_order, number`;
  return sql<Missing[]>`
    with missing as (
      select number, player_id, transaction_id, there, there ->> 'roundId' as round_id,
        (there ->> 'time')::timestamptz as at, coalesce((there ->> 'roundClosed')::boolean, false) as closes,
        array_position(array['debit', 'credit', 'rollback'], there ->> 'operation') as operation_order,
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
 * Whether all bets that are missing before the period of a reconciliation are known: the time before the period was compared
 * (as long as the period, at most 24 hours), and no statement of an earlier time is still being compared.
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
 * Whether `line` of the statement of `run` may be the transaction of `entry` under another player. This is possible when
 * ids are unique for each player only, and the player of the line has no entry with this id.
 */
export const isOfAnotherPlayer = (sql: ISql) => sql`entry.transaction_id = line.transaction_id
  and entry.id_space <> line.id_space and starts_with(entry.id_space, 'player/') and starts_with(line.id_space, 'player/')
  and entry.operation in (line.operation, 'tombstone')
  and (entry.round_id = line.round_id or entry.at >= run.period_from - make_interval(secs => run.tolerance_s)
    and entry.at < run.period_to + make_interval(secs => run.tolerance_s))
  and not exists (select from entries own
    where own.transaction_id = line.transaction_id and own.id_space = line.id_space offset 0)`;

/**
 * Numbers of the differences whose transaction has arrived for another player since the statement was received, for example
 * as a late retry; the comparison has dealt with earlier entries. Leaves out ids that the statement contains for both players.
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
      -- The time of an entry is the beginning of its batch, which may be before its commit.
      and entry.at > run.created_at - interval '1 minute'
      and not exists (select from reconciliation_differences own where own.reconciliation_id = ${id}
        and own.transaction_id = entry.transaction_id and own.player_id = entry.player_id offset 0) offset 0)`;
  return new Set(rows.map(({ number }) => number));
};

type Path = z.output<typeof DryRunPath>;

/** `dryRunId`: the dry run by which its repair was last attempted. */
type RepairableDifference = DifferenceView & { dryRunId: string | null };

/** The differences with these numbers, by number. */
export const findDifferences = (sql: ISql, id: string, numbers: readonly number[]) => sql<
  RepairableDifference[]
>`
  select ${differenceColumns(sql)}, dry_run_id as "dryRunId" from reconciliation_differences
  where reconciliation_id = ${id} and number = any (${numbers as number[]}::int[]) order by number`;

/** `isApproved`: the dry run has an approval that has not expired. */
export type StoredDryRun = Omit<z.output<typeof DryRun>, 'sums'> & { isApproved: boolean };

const dryRunColumns = (sql: ISql) => sql`
  dry_run_id as "dryRunId", ${isoTime(sql, sql`created_at`)} as "createdAt", created_by as "createdBy",
  ${isoTime(sql, sql`approved_at`)} as "approvedAt", approved_by as "approvedBy", repairs,
  coalesce(approved_at > now() - interval '24 hours', false) as "isApproved"`;

export const insertDryRun = (
  sql: ISql,
  by: string,
  reconciliationId: string,
  repairs: readonly RepairResult[],
) =>
  firstRow(sql<[StoredDryRun]>`
    insert into reconciliation_dry_runs (reconciliation_id, created_at, created_by, repairs)
    values (${reconciliationId}, now(), ${by}, ${JSON.stringify(repairs)}::text::jsonb) returning ${dryRunColumns(sql)}`);

/** `lock` locks it until the transaction ends. */
export const findDryRun = (sql: ISql, { reconciliationId, dryRunId }: Path, lock = false) =>
  firstRow(sql<StoredDryRun[]>`
    select ${dryRunColumns(sql)} from reconciliation_dry_runs
    where dry_run_id = ${dryRunId} and reconciliation_id = ${reconciliationId} ${lock ? sql`for update` : sql``}`);

export const markApproved = (sql: ISql, { dryRunId }: Path, by: string) =>
  firstRow(sql<[StoredDryRun]>`
    update reconciliation_dry_runs set approved_by = ${by}, approved_at = now()
    where dry_run_id = ${dryRunId} returning ${dryRunColumns(sql)}`);

/**
 * What repairs of the last 24 hours moved, or may have moved, by currency in minor units; without those of `numbers`. The
 * lock serialises concurrent requests until they commit, so that they cannot exceed the limit together.
 */
export const movedInLastDay = async (
  tx: ISql,
  id: string,
  numbers: readonly number[],
): Promise<Map<string, bigint>> => {
  await tx`select pg_advisory_xact_lock(4218338)`;
  const rows = await tx<{ currency: string; sum: string }[]>`
    select currency, sum(amount)::text as sum from reconciliation_differences join players using (player_id)
    where repair_transaction_id is not null and repaired_at > clock_timestamp() - interval '24 hours'
      and not (reconciliation_id = ${id} and number = any (${numbers as number[]}::int[]))
    group by currency`;
  return new Map(rows.map(({ currency, sum }) => [currency, BigInt(sum)]));
};

/** A difference whose repair is being attempted. */
export type Attempt = DifferenceView & {
  /** The amount that it moves, in minor units. */
  moved: string;
  repairTransactionId: string;
  /** Whether an earlier attempt has not ended, and may still move the money. */
  mayOverlap: boolean;
};

/**
 * Marks repairs, with the amount that each moves, before they are sent to the ledger: so their entries are known to be
 * repairs even if the process crashes. Keeps the larger amount of another attempt that has not ended. Returns the attempts,
 * without differences that are already applied.
 */
export const markApplying = (
  sql: ISql,
  { reconciliationId, dryRunId }: Path,
  amounts: ReadonlyMap<number, number>,
  by: string,
) => sql<Attempt[]>`
  update reconciliation_differences set state = 'applying', dry_run_id = ${dryRunId},
    amount = greatest(moves, case state when 'applying' then amount end),
    repair_transaction_id = case repair when 'apply' then transaction_id
      else concat('reconciliation/', reconciliation_id, '/', number) end,
    repaired_at = clock_timestamp(), repaired_by = ${by}
  from unnest(${[...amounts.keys()]}::int[], ${[...amounts.values()]}::bigint[]) as asked (asked_number, moves)
  where reconciliation_id = ${reconciliationId} and number = asked_number and state <> 'applied'
  returning ${differenceColumns(sql)}, amount::text as moved, repair_transaction_id as "repairTransactionId",
    -- No request takes 10 minutes: an older attempt ended with its process.
    old.state = 'applying' and old.repaired_at > clock_timestamp() - interval '10 minutes' as "mayOverlap"`;

/**
 * Stores the decision of the ledger about an attempt. Does not store a refusal, and returns undefined, when another attempt
 * may be in progress, because that one may move the money.
 */
export const markDecided = async (
  sql: ISql,
  id: string,
  { number, repairTransactionId, repairedAt, mayOverlap }: Attempt,
  status: string | null,
  reason: string | null,
): Promise<DifferenceView | undefined> => {
  const isApplied = status === 'OK';
  if (!isApplied && mayOverlap) return undefined;
  const isNewestAttempt = sql`state = 'applying' and repaired_at = ${repairedAt}`;
  const [decided] = await sql<DifferenceView[]>`
    update reconciliation_differences set state = ${isApplied ? 'applied' : 'refused'}, status = ${status},
      reason = ${reason}, repair_transaction_id = ${isApplied ? repairTransactionId : null}
    where reconciliation_id = ${id} and number = ${number} and ${isApplied ? sql`true` : isNewestAttempt}
    returning ${differenceColumns(sql)}`;
  return decided;
};
