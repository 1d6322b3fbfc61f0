import type { Page } from '@platform/pagination/list';
import postgres, { type ISql, type Sql } from 'postgres';
import type { z } from 'zod';
import { firstRow, isoTime, firstValue, type Fragment } from '../db/sql.ts';
import type { Difference } from './difference.ts';
import { lineColumns, type LineBatch } from './statement-line.ts';
import type { Reconciliation, ReconciliationWithKinds, FieldCounts, StatementQuery } from './schema.ts';

export type ReconciliationView = z.input<typeof Reconciliation>;
export type DifferenceView = z.input<typeof Difference>;

/** The columns of `ReconciliationView`. */
const reconciliationColumns = (sql: ISql) => sql`
  reconciliation_id as "reconciliationId", ${isoTime(sql, sql`created_at`)} as "createdAt", created_by as "createdBy",
  ${isoTime(sql, sql`period_from`)} as "from", ${isoTime(sql, sql`period_to`)} as "to", tolerance_s as tolerance,
  case when failure is not null then 'failed' when step in ('lines', 'entries') then 'comparing'
    when step in ('removing', 'ended') then 'done' else step end as status,
  failure, lines, case step when 'receiving' then 0 when 'lines' then least(line_done, lines) else lines end as "comparedLines",
  differences, coalesce(fields, '[]') as fields`;

/** The columns of `DifferenceView`. */
export const differenceColumns = (sql: ISql) => sql`
  number, kind, player_id as "playerId", transaction_id as "transactionId", there, here, repair, state, status, reason,
  ${isoTime(sql, sql`repaired_at`)} as "repairedAt", repaired_by as "repairedBy"`;

/** Inserts a reconciliation whose statement is being received. Returns its id. */
export const insertReconciliation = (
  sql: ISql,
  by: string,
  { from, to, tolerance }: Pick<z.output<typeof StatementQuery>, 'from' | 'to' | 'tolerance'>,
) =>
  firstValue(sql<[{ value: string }]>`
    insert into reconciliations (created_at, created_by, period_from, period_to, tolerance_s, touched_at)
    values (now(), ${by}, ${from}, ${to}, ${tolerance}, now()) returning reconciliation_id as value`);

/** Maximum number of reconciliations with stored lines, because the lines fill the database of the ledger. */
export const maxOpen = 5;

/** Maximum number of statements that are received from one caller at a time, because a client can send slowly. */
export const maxReceiving = 2;

/** Whether a statement of this caller may be received now. The lock serialises concurrent requests until they commit. */
export const canReceive = async (tx: ISql, caller: string): Promise<boolean> => {
  await tx`select pg_advisory_xact_lock(4218334)`;
  return firstValue(tx<[{ value: boolean }]>`
    select count(*) filter (where step = 'receiving' or lines > 0) < ${maxOpen}
      and count(*) filter (where step = 'receiving' and created_by = ${caller}) < ${maxReceiving} as value
    from reconciliations where step <> 'ended'`);
};

/**
 * Stores lines of a statement that is being received. Returns false when the reconciliation has failed meanwhile.
 *
 * Commits do not wait for the disk; `beginComparing` detects lines that a crash of PostgreSQL has lost.
 */
export const insertLines = async (sql: Sql, id: string, { count, columns }: LineBatch): Promise<boolean> => {
  // No value contains a line feed or is empty; an empty text means null.
  const arrays = lineColumns
    .map(({ type }, at) => sql`string_to_array(${columns[at] ?? ''}, chr(10), '')::${sql.unsafe(type)}[]`)
    .reduce((list, next) => sql`${list}, ${next}`);
  const names = sql(lineColumns.map(({ name }) => name));
  const insert = (stored: Fragment) => sql`
    with run as (
      update reconciliations set lines = lines + ${count}, touched_at = now()
      where reconciliation_id = ${id} and step = 'receiving' returning reconciliation_id
    ), line as materialized (
      select run.reconciliation_id, line.* from run cross join unnest(${arrays}) as line (${names})
    ), ${stored}
    select set_config('synchronous_commit', 'off', true) from run`;
  try {
    const runs = await insert(sql`stored as (insert into reconciliation_lines select * from line)`);
    return runs.length > 0;
  } catch (error) {
    if (!(error instanceof postgres.PostgresError && error.code === '23505')) throw error;
  }
  // The statement has a transaction twice. ON CONFLICT is not used above, because it doubles the cost of a line.
  const runs = await insert(sql`stored as (
      insert into reconciliation_lines select * from line
      on conflict (reconciliation_id, transaction_id, id_space) where not is_repeated do nothing returning line
    ), repeated as (
      insert into reconciliation_lines select *, true from line where line not in (select line from stored)
    )`);
  return runs.length > 0;
};

/**
 * Marks the statement as complete. Returns undefined if the reconciliation has failed, or if a crash of PostgreSQL has lost
 * lines: they are committed asynchronously, and durable only after this commit.
 */
export const beginComparing = (
  sql: ISql,
  id: string,
  { lines, fields }: { lines: number; fields: FieldCounts },
) =>
  firstRow(sql<ReconciliationView[]>`
    update reconciliations set step = 'lines', fields = ${JSON.stringify(fields)}::text::jsonb
    where reconciliation_id = ${id} and step = 'receiving' and lines = ${lines}
    returning ${reconciliationColumns(sql)}`);

export const findReconciliation = (sql: ISql, id: string) =>
  firstRow(sql<ReconciliationView[]>`
    select ${reconciliationColumns(sql)} from reconciliations where reconciliation_id = ${id}`);

/** Reconciliations, newest first; one more than the page holds. */
export const listReconciliations = (sql: ISql, { limit, offset }: Page) => sql<ReconciliationView[]>`
  select ${reconciliationColumns(sql)} from reconciliations
  order by reconciliation_id desc limit ${limit + 1} offset ${String(offset)}`;

/** Counts reconciliations whose comparison failed in the last 24 hours, and unfinished ones without progress for an hour. */
export const countFailing = (sql: ISql) =>
  firstValue(sql<[{ value: number }]>`
    select count(*)::int as value from reconciliations
    where failure in ('too_many_differences', 'internal') and touched_at > now() - interval '24 hours'
      or step <> 'ended' and touched_at < now() - interval '1 hour'`);

/** The number of differences of each kind, and of those that were not repaired. */
export const countKinds = (sql: ISql, id: string) => sql<z.input<typeof ReconciliationWithKinds>['kinds']>`
  select kind, count(*)::int as differences, (count(*) filter (where state <> 'applied'))::int as open
  from reconciliation_differences where reconciliation_id = ${id} group by kind order by kind`;

/** Differences by number, one more than the page holds. */
export const listDifferences = (
  sql: ISql,
  id: string,
  kind: DifferenceView['kind'] | undefined,
  { limit, offset }: Page,
) => sql<DifferenceView[]>`
  select ${differenceColumns(sql)} from reconciliation_differences
  where reconciliation_id = ${id} ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
  order by number limit ${limit + 1} offset ${String(offset)}`;

/** The next differences after this number. */
export const differencesAfter = (sql: ISql, id: string, number: number, limit: number) => sql<
  DifferenceView[]
>`
  select ${differenceColumns(sql)} from reconciliation_differences
  where reconciliation_id = ${id} and number > ${number} order by number limit ${limit}`;
