import type { ISql } from 'postgres';
import type { z } from 'zod';
import { firstRow, isoTime } from '../db/sql.ts';
import type { RepairResult } from './difference.ts';
import { differenceColumns, type DifferenceView } from './queries.ts';
import type { DryRun, DryRunPath } from './schema.ts';

type Path = z.output<typeof DryRunPath>;

/** With the last dry run by which its repair was attempted. */
type Repaired = DifferenceView & { dryRunId: string | null };

/** The differences with these numbers, in their order. */
export const findDifferences = (sql: ISql, id: string, numbers: readonly number[]) => sql<Repaired[]>`
  select ${differenceColumns(sql)}, dry_run_id as "dryRunId" from reconciliation_differences
  where reconciliation_id = ${id} and number = any (${numbers as number[]}::int[]) order by number`;

/** `isApproved`: its approval holds. */
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
 * What repairs of the last 24 hours moved, or may have moved, by currency in minor units; without those of `numbers`.
 * Others that ask at the same time wait for this transaction, so that together they do not exceed the amount.
 */
export const movedLately = async (
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

/** A difference whose repair was attempted. */
export type Attempt = DifferenceView & {
  /** What it moves, in minor units. */
  moved: string;
  /** The transaction id of the repair. */
  transaction: string;
  /** An earlier attempt has not ended, and may still move the money. */
  mayOverlap: boolean;
};

/**
 * Written before the repairs, with the amount that each moves, so that their entries are known to be repairs even when
 * the process ends meanwhile. What another attempt reserved stays reserved. Returns the attempts: those that were not
 * applied yet.
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
  returning ${differenceColumns(sql)}, amount::text as moved, repair_transaction_id as transaction,
    -- Longer than any request takes: an attempt that began before has ended with its process.
    old.state = 'applying' and old.repaired_at > clock_timestamp() - interval '10 minutes' as "mayOverlap"`;

/**
 * Writes what the ledger decided about an attempt. A refusal is not written, and the result is undefined, when another
 * attempt may be in progress: it may move the money.
 */
export const markDecided = async (
  sql: ISql,
  id: string,
  { number, transaction, repairedAt, mayOverlap }: Attempt,
  status: string | null,
  reason: string | null,
): Promise<DifferenceView | undefined> => {
  const isApplied = status === 'OK';
  if (!isApplied && mayOverlap) return undefined;
  const isNewest = sql`state = 'applying' and repaired_at = ${repairedAt}`;
  const [decided] = await sql<DifferenceView[]>`
    update reconciliation_differences set state = ${isApplied ? 'applied' : 'refused'}, status = ${status},
      reason = ${reason}, repair_transaction_id = ${isApplied ? transaction : null}
    where reconciliation_id = ${id} and number = ${number} and ${isApplied ? sql`true` : isNewest}
    returning ${differenceColumns(sql)}`;
  return decided;
};
