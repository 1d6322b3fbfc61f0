import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, eq, getTableColumns, inArray, isNull, lte, ne, or, sql as raw } from 'drizzle-orm';
import {
  reconciliationDifferences as differences,
  reconciliationDryRuns as dryRuns,
} from '../db/reconciliations.ts';
import type { Outcome } from '../ledger/state.ts';
import type { DifferenceRow } from './difference-queries.ts';

export type DryRunRow = typeof dryRuns.$inferSelect;

/** `isApproved`: its approval holds. */
export type StoredDryRun = DryRunRow & { isApproved: boolean };

/** `mayOverlap`: an earlier attempt of the same repair has not ended, and may still move the money. */
export type Attempt = DifferenceRow & { mayOverlap: boolean };

/** Longer than any request takes: an attempt that began before has ended with its process. */
const longestAttempt = raw`interval '10 minutes'`;

type Update = Pick<PostgresJsDatabase, 'update'>;

/** An approval that is older has ended. */
const approvedSince = raw`now() - interval '24 hours'`;

export const insertDryRun = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: Pick<DryRunRow, 'reconciliationId' | 'createdBy' | 'repairs'>,
): Promise<DryRunRow> => {
  const [inserted] = await orm
    .insert(dryRuns)
    .values({ ...row, createdAt: raw`now()` })
    .returning();
  if (inserted === undefined) throw new Error('a dry run was not inserted');
  return inserted;
};

export const findDryRun = async (
  orm: Pick<PostgresJsDatabase, 'select'>,
  id: string,
  dryRunId: string,
): Promise<StoredDryRun | undefined> => {
  const [row] = await orm
    .select({
      ...getTableColumns(dryRuns),
      isApproved: raw<boolean>`coalesce(${dryRuns.approvedAt} > ${approvedSince}, false)`,
    })
    .from(dryRuns)
    .where(and(eq(dryRuns.dryRunId, dryRunId), eq(dryRuns.reconciliationId, id)));
  return row;
};

/** Undefined when an approval holds already. */
export const markApproved = async (
  orm: Update,
  { dryRunId }: DryRunRow,
  by: string,
): Promise<DryRunRow | undefined> => {
  const [row] = await orm
    .update(dryRuns)
    .set({ approvedBy: by, approvedAt: raw`now()` })
    .where(
      and(
        eq(dryRuns.dryRunId, dryRunId),
        or(isNull(dryRuns.approvedAt), lte(dryRuns.approvedAt, approvedSince)),
      ),
    )
    .returning();
  return row;
};

/**
 * What repairs of the last 24 hours moved, or may have moved, by currency in minor units; without those of `numbers`.
 * Others that ask at the same time wait for this transaction, so that together they do not exceed the amount.
 */
export const movedLately = async (
  orm: Pick<PostgresJsDatabase, 'execute'>,
  id: string,
  numbers: readonly number[],
): Promise<Map<string, bigint>> => {
  await orm.execute(raw`select pg_advisory_xact_lock(4218338)`);
  const rows = await orm.execute<{ currency: string; sum: string }>(raw`
    select currency, sum(amount)::text as sum from reconciliation_differences join players using (player_id)
    where repair_transaction_id is not null and repaired_at > clock_timestamp() - interval '24 hours'
      and not (reconciliation_id = ${id} and number = any (${`{${numbers.join()}}`}::int[]))
    group by currency`);
  return new Map(rows.map(({ currency, sum }) => [currency, BigInt(sum)]));
};

/**
 * Written before the repairs, with the amount that each moves, so that their entries are known to be repairs even when
 * the process ends meanwhile. What another attempt reserved stays reserved. Returns the attempts: those that were not
 * applied yet.
 */
export const markApplying = (
  orm: Update,
  { reconciliationId, dryRunId }: DryRunRow,
  amounts: ReadonlyMap<number, number>,
  by: string,
): Promise<Attempt[]> =>
  orm
    .update(differences)
    .set({
      state: 'applying',
      dryRunId,
      amount: raw`greatest((${JSON.stringify(Object.fromEntries(amounts))}::text::jsonb ->> ${differences.number}::text)::bigint,
        case ${differences.state} when 'applying' then ${differences.amount} end)`,
      repairTransactionId: raw`case ${differences.repair} when 'apply' then ${differences.transactionId}
        else concat('reconciliation/', ${differences.reconciliationId}, '/', ${differences.number}) end`,
      repairedAt: raw`clock_timestamp()`,
      repairedBy: by,
    })
    .where(
      and(
        eq(differences.reconciliationId, reconciliationId),
        inArray(differences.number, [...amounts.keys()]),
        ne(differences.state, 'applied'),
      ),
    )
    .returning({
      ...getTableColumns(differences),
      mayOverlap: raw<boolean>`old.state = 'applying' and old.repaired_at > clock_timestamp() - ${longestAttempt}`,
    });

/**
 * Writes what the ledger decided about an attempt. A refusal is not written, and the result is undefined, when another
 * attempt may be in progress: it may move the money.
 */
export const markDecided = async (
  orm: Update,
  attempt: Attempt,
  { status, reason = null }: { status: Outcome['status'] | null; reason?: string | null | undefined },
): Promise<DifferenceRow | undefined> => {
  const { reconciliationId, number, repairTransactionId, repairedAt } = attempt;
  const isApplied = status === 'OK';
  if (!isApplied && attempt.mayOverlap) return undefined;
  const isNewest = and(eq(differences.state, 'applying'), eq(differences.repairedAt, repairedAt as Date));
  const [decided] = await orm
    .update(differences)
    .set({
      state: isApplied ? 'applied' : 'refused',
      status,
      reason,
      repairTransactionId: isApplied ? repairTransactionId : null,
    })
    .where(
      and(
        eq(differences.reconciliationId, reconciliationId),
        eq(differences.number, number),
        isApplied ? undefined : isNewest,
      ),
    )
    .returning();
  return decided;
};
