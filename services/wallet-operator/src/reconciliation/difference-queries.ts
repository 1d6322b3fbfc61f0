import type { Page } from '@platform/pagination/list';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, asc, eq, gt, inArray, ne, sql as raw } from 'drizzle-orm';
import { reconciliationDifferences as differences } from '../db/reconciliations.ts';
import { entries } from '../db/tables.ts';
import type { Outcome } from '../ledger/state.ts';

export type DifferenceRow = typeof differences.$inferSelect;

export interface KindCount {
  kind: DifferenceRow['kind'];
  differences: number;
  open: number;
}

/** How many differences of each kind there are, and how many of them were not repaired. */
export const countKinds = (orm: PostgresJsDatabase, id: string): Promise<KindCount[]> =>
  orm
    .select({
      kind: differences.kind,
      differences: raw<number>`count(*)::int`,
      open: raw<number>`(count(*) filter (where ${differences.state} <> 'applied'))::int`,
    })
    .from(differences)
    .where(eq(differences.reconciliationId, id))
    .groupBy(differences.kind)
    .orderBy(differences.kind);

/** In their order; one more than the page holds. */
export const listDifferences = (
  orm: PostgresJsDatabase,
  id: string,
  kind: DifferenceRow['kind'] | undefined,
  { limit, offset }: Page,
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(
      and(eq(differences.reconciliationId, id), kind === undefined ? undefined : eq(differences.kind, kind)),
    )
    .orderBy(asc(differences.number))
    .limit(limit + 1)
    .offset(Number(offset));

/** Up to `limit` differences with higher numbers than `after`. */
export const differencesAfter = (
  orm: PostgresJsDatabase,
  id: string,
  after: number,
  limit: number,
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(and(eq(differences.reconciliationId, id), gt(differences.number, after)))
    .orderBy(asc(differences.number))
    .limit(limit);

export const differencesByNumber = (
  orm: PostgresJsDatabase,
  id: string,
  numbers: readonly number[],
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(and(eq(differences.reconciliationId, id), inArray(differences.number, [...numbers])));

/** The transactions of these players and rounds that are missing here and were not applied, of one reconciliation. */
export const missingInRounds = (
  orm: PostgresJsDatabase,
  id: string,
  rounds: readonly { playerId: string; roundId: string }[],
): Promise<Pick<DifferenceRow, 'number' | 'playerId' | 'there'>[]> =>
  orm
    .select({ number: differences.number, playerId: differences.playerId, there: differences.there })
    .from(differences)
    .where(
      and(
        eq(differences.reconciliationId, id),
        eq(differences.kind, 'missing_here'),
        ne(differences.state, 'applied'),
        inArray(
          differences.playerId,
          rounds.map(({ playerId }) => playerId),
        ),
        inArray(
          raw`${differences.there} ->> 'roundId'`,
          rounds.map(({ roundId }) => roundId),
        ),
      ),
    );

/** The debits that stand here among those that rollbacks name. */
export const debitsNamed = (
  orm: PostgresJsDatabase,
  rollbacks: readonly { playerId: string; reverses: string }[],
): Promise<{ playerId: string; transactionId: string; roundId: string | null }[]> =>
  orm
    .select({
      playerId: entries.playerId,
      transactionId: entries.transactionId,
      roundId: entries.roundId,
    })
    .from(entries)
    .where(
      and(
        eq(entries.operation, 'debit'),
        inArray(
          entries.transactionId,
          rollbacks.map(({ reverses }) => reverses),
        ),
      ),
    );

const isRow = ({ reconciliationId, number }: DifferenceRow) =>
  and(eq(differences.reconciliationId, reconciliationId), eq(differences.number, number));

export const markTried = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  id: string,
  numbers: readonly number[],
): Promise<void> => {
  await orm
    .update(differences)
    .set({ triedAt: raw`now()` })
    .where(and(eq(differences.reconciliationId, id), inArray(differences.number, [...numbers])));
};

/**
 * Written before the repair, so that its entry is known to be a repair even when the process ends meanwhile. Returns the
 * attempt; undefined when another one has applied the repair.
 */
export const markApplying = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  row: DifferenceRow,
  repairTransactionId: string,
  by: string,
): Promise<DifferenceRow | undefined> => {
  const [attempt] = await orm
    .update(differences)
    .set({ state: 'applying', repairTransactionId, repairedAt: raw`now()`, repairedBy: by })
    .where(and(isRow(row), ne(differences.state, 'applied')))
    .returning();
  return attempt;
};

/**
 * Writes what the ledger decided about an attempt. Another attempt may have begun after it: then a refusal is not written,
 * because the other one may have moved the money, and the result is undefined.
 */
export const markDecided = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  attempt: DifferenceRow,
  outcome: Outcome,
): Promise<DifferenceRow | undefined> => {
  const { repairTransactionId, repairedAt } = attempt;
  const decision = { status: outcome.status, reason: outcome.reason ?? null };
  const isApplied = outcome.status === 'OK';
  const isNewest = and(eq(differences.state, 'applying'), eq(differences.repairedAt, repairedAt as Date));
  const [decided] = await orm
    .update(differences)
    .set(
      isApplied
        ? { state: 'applied', ...decision, repairTransactionId }
        : { state: 'refused', ...decision, repairTransactionId: null },
    )
    .where(and(isRow(attempt), isApplied ? undefined : isNewest))
    .returning();
  return decided;
};
