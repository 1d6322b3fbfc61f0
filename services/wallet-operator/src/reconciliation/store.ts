import type { Page } from '@platform/pagination/page-limit';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, asc, desc, eq, gt, inArray, lt, ne, or, sql as raw } from 'drizzle-orm';
import type { Sql } from 'postgres';
import {
  reconciliationDifferences as differences,
  reconciliations,
  type StatedFields,
} from '../db/reconciliations.ts';
import type { Outcome } from '../ledger/outcome.ts';

export type ReconciliationRow = typeof reconciliations.$inferSelect;
export type DifferenceRow = typeof differences.$inferSelect;

export const insertReconciliation = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: Pick<ReconciliationRow, 'createdBy' | 'periodFrom' | 'periodTo' | 'toleranceS'>,
): Promise<ReconciliationRow> => {
  const now = raw`now()`;
  const [made] = await orm
    .insert(reconciliations)
    .values({ ...row, createdAt: now, touchedAt: now })
    .returning();
  if (made === undefined) throw new Error('a reconciliation was not inserted');
  return made;
};

/** Reconciliations that may hold lines at the same time: the lines lie in the database of the ledger. */
export const maxOpen = 5;

/** Whether another statement may be received now. Others that ask at the same time wait for this transaction. */
export const hasRoom = async (orm: Pick<PostgresJsDatabase, 'execute' | '$count'>): Promise<boolean> => {
  await orm.execute(raw`select pg_advisory_xact_lock(4218334)`);
  const holdsLines = or(eq(reconciliations.step, 'receiving'), gt(reconciliations.lines, 0));
  return (await orm.$count(reconciliations, and(ne(reconciliations.step, 'ended'), holdsLines))) < maxOpen;
};

/** A row of `reconciliation_lines` without its reconciliation. */
export interface LineRow {
  line: number;
  transaction_id: string;
  id_space: string;
  player_id: string;
  operation: string;
  amount: number | undefined;
  currency: string | undefined;
  round_id: string | undefined;
  game_code: string | undefined;
  round_closed: boolean | undefined;
  reverses: string | undefined;
  at: string | undefined;
}

/** Stores lines of a statement that is being received. Returns false when the reconciliation was given up meanwhile. */
export const insertLines = async (sql: Sql, id: string, rows: readonly LineRow[]): Promise<boolean> => {
  // One text for each column: it is split faster than JSON is parsed. No value has a line feed or is empty.
  const column = (name: keyof LineRow) => {
    const values = rows.map((row) => row[name] ?? '').join('\n');
    return sql`string_to_array(${values}, chr(10), '')`;
  };
  const found = await sql`
    with run as (
      update reconciliations set lines = lines + ${rows.length}, first_line = coalesce(first_line, ${rows[0]?.line ?? null}),
        touched_at = now()
      where reconciliation_id = ${id} and step = 'receiving' returning reconciliation_id
    ), line as materialized (
      select run.*, line.* from run cross join unnest(${column('line')}::int[], ${column('transaction_id')},
        ${column('id_space')}, ${column('player_id')}, ${column('operation')}, ${column('amount')}::bigint[],
        ${column('currency')}, ${column('round_id')}, ${column('game_code')}, ${column('round_closed')}::boolean[],
        ${column('reverses')}, ${column('at')}::timestamptz[])
        as line (line, transaction_id, id_space, player_id, operation, amount, currency, round_id, game_code,
          round_closed, reverses, at)
    ), stored as (
      insert into reconciliation_lines select * from line
      on conflict (reconciliation_id, transaction_id, id_space) where not is_repeated do nothing returning line
    ), repeated as (
      insert into reconciliation_lines select *, true from line where line not in (select line from stored)
    )
    select from run`;
  return found.length > 0;
};

/** The statement is complete; `fields`: how many lines state each field. Undefined when the reconciliation was given up meanwhile. */
export const beginComparing = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  id: string,
  fields: StatedFields,
): Promise<ReconciliationRow | undefined> => {
  const [row] = await orm
    .update(reconciliations)
    .set({ step: 'lines', fields })
    .where(and(eq(reconciliations.reconciliationId, id), eq(reconciliations.step, 'receiving')))
    .returning();
  return row;
};

export const findReconciliation = async (
  orm: Pick<PostgresJsDatabase, 'select'>,
  id: string,
): Promise<ReconciliationRow | undefined> => {
  const [row] = await orm.select().from(reconciliations).where(eq(reconciliations.reconciliationId, id));
  return row;
};

/** The newest first; one more than the page holds. */
export const listReconciliations = (
  orm: PostgresJsDatabase,
  { limit, offset }: Page,
): Promise<ReconciliationRow[]> =>
  orm
    .select()
    .from(reconciliations)
    .orderBy(desc(reconciliations.reconciliationId))
    .limit(limit + 1)
    .offset(Number(offset));

/** How many failed in the last 24 hours while they were compared, or are not ended and have not moved for an hour. */
export const countFailing = (orm: Pick<PostgresJsDatabase, '$count'>): Promise<number> => {
  const ago = (hours: number) => raw`now() - make_interval(hours => ${hours})`;
  const comparing = ['statement_lost', 'too_many_differences', 'internal'] as const;
  return orm.$count(
    reconciliations,
    or(
      and(inArray(reconciliations.failure, comparing), gt(reconciliations.touchedAt, ago(24))),
      and(ne(reconciliations.step, 'ended'), lt(reconciliations.touchedAt, ago(1))),
    ),
  );
};

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
