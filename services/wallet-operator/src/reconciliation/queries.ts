import type { Page } from '@platform/pagination/list';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, desc, eq, gt, inArray, lt, ne, or, sql as raw } from 'drizzle-orm';
import postgres, { type PendingQuery, type Row, type Sql } from 'postgres';
import { reconciliations, type StatedFields } from '../db/reconciliations.ts';
import { lineColumns, type LineBatch } from './line-batch.ts';

export type ReconciliationRow = typeof reconciliations.$inferSelect;

export const insertReconciliation = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: Pick<ReconciliationRow, 'createdBy' | 'periodFrom' | 'periodTo' | 'toleranceS'>,
): Promise<ReconciliationRow> => {
  const now = raw`now()`;
  const [inserted] = await orm
    .insert(reconciliations)
    .values({ ...row, createdAt: now, touchedAt: now })
    .returning();
  if (inserted === undefined) throw new Error('a reconciliation was not inserted');
  return inserted;
};

/** Reconciliations that may hold lines at the same time: the lines lie in the database of the ledger. */
export const maxOpen = 5;

/** Of these, how many of one caller may still be sent: nothing bounds how long that takes. */
export const maxSent = 2;

/** Whether another statement of a caller may be received now. Others that ask at the same time wait for this transaction. */
export const hasRoom = async (
  orm: Pick<PostgresJsDatabase, 'execute' | '$count'>,
  caller: string,
): Promise<boolean> => {
  await orm.execute(raw`select pg_advisory_xact_lock(4218334)`);
  const isSent = eq(reconciliations.step, 'receiving');
  const isOpen = and(ne(reconciliations.step, 'ended'), or(isSent, gt(reconciliations.lines, 0)));
  return (
    (await orm.$count(reconciliations, isOpen)) < maxOpen &&
    (await orm.$count(reconciliations, and(isSent, eq(reconciliations.createdBy, caller)))) < maxSent
  );
};

/**
 * Stores lines of a statement that is being received. Returns false when the reconciliation was given up meanwhile.
 *
 * Only the first lines wait until they are on disk: after a crash of PostgreSQL the table of lines is empty, and what
 * tells is that the first line is missing.
 */
export const insertLines = async (
  sql: Sql,
  id: string,
  { count, first, columns }: LineBatch,
): Promise<boolean> => {
  // No value has a line feed or is empty.
  const arrays = lineColumns
    .map(({ type }, at) => sql`string_to_array(${columns[at] ?? ''}, chr(10), '')::${sql.unsafe(type)}[]`)
    .reduce((list, next) => sql`${list}, ${next}`);
  const names = sql(lineColumns.map(({ name }) => name));
  const insert = (stored: PendingQuery<Row[]>) => sql`
    with run as (
      update reconciliations set lines = lines + ${count}, first_line = coalesce(first_line, ${first}),
        touched_at = now()
      where reconciliation_id = ${id} and step = 'receiving' returning reconciliation_id, first_line
    ), line as materialized (
      select run.reconciliation_id, line.* from run cross join unnest(${arrays}) as line (${names})
    ), ${stored}
    select case when first_line < ${first} then set_config('synchronous_commit', 'off', true) end from run`;
  try {
    const runs = await insert(sql`stored as (insert into reconciliation_lines select * from line)`);
    return runs.length > 0;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError && error.code === '23505')) throw error;
  }
  // A transaction stands twice in the statement. With ON CONFLICT storing a line costs twice as much.
  const runs = await insert(sql`stored as (
      insert into reconciliation_lines select * from line
      on conflict (reconciliation_id, transaction_id, id_space) where not is_repeated do nothing returning line
    ), repeated as (
      insert into reconciliation_lines select *, true from line where line not in (select line from stored)
    )`);
  return runs.length > 0;
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
