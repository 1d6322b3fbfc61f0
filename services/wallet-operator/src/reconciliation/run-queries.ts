import type { ISql, Sql, TransactionSql } from 'postgres';
import type { reconciliations } from '../db/tables.ts';

/** A reconciliation that is in progress. */
export interface Run {
  id: string;
  step: 'receiving' | 'lines' | 'entries' | 'removing' | 'ended';
  periodFrom: string;
  periodTo: string;
  /** Null when no line was stored. */
  firstLine: number | null;
  lineDone: number;
  /** Null before the step `entries`. */
  entriesDone: string | null;
  differences: number;
  /** Since the last transaction that succeeded. */
  failedAttempts: number;
}

/** How long nothing may have been received before a reconciliation counts as interrupted, in seconds. */
const interruptedAfterS = 120;

/**
 * Locks the oldest reconciliation with work left for this transaction, unless another process works on it: the lock is
 * the lease. One whose last transactions failed comes after the others. Undefined when there is nothing to do.
 */
export const claimRun = async (tx: TransactionSql): Promise<Run | undefined> => {
  // What a crash of PostgreSQL takes back is compared again, so no transaction of a step waits until it is on disk.
  // Plans are made when the tables are empty, or have no statistics yet. Each look-up is by a key; OFFSET 0 in those of
  // EXISTS forbids to collect all rows of a table in advance.
  await tx`select set_config(name, 'off', true)
    from unnest(array['synchronous_commit', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name`;
  const [run] = await tx<Run[]>`
    select reconciliation_id as id, step, period_from as "periodFrom", period_to as "periodTo",
      first_line as "firstLine", line_done as "lineDone", entries_done as "entriesDone", differences,
      failed_attempts as "failedAttempts"
    from reconciliations
    where step in ('lines', 'entries', 'removing')
      or step = 'receiving' and touched_at < now() - make_interval(secs => ${interruptedAfterS})
    order by failed_attempts, reconciliation_id limit 1 for update skip locked`;
  return run;
};

/**
 * PostgreSQL empties the unlogged table of lines after a crash. The first line tells, because lines that arrived after
 * the crash are there.
 */
export const hasLines = async (tx: TransactionSql, { id, firstLine }: Run): Promise<boolean> => {
  const [row] = await tx`
    select from reconciliation_lines where reconciliation_id = ${id} and line = ${firstLine}`;
  return row !== undefined || firstLine === null;
};

/**
 * The number of the last one of the next `count` lines; undefined when none is left. Numbers may have large gaps: empty
 * lines are not stored.
 */
export const endOfNextLines = async (
  tx: TransactionSql,
  { id, lineDone }: Run,
  count: number,
): Promise<number | undefined> => {
  const [row] = await tx<[{ line: number | null }]>`
    select max(line) as line from (
      select line from reconciliation_lines where reconciliation_id = ${id} and line > ${lineDone}
      order by line limit ${count}) next_lines`;
  return row.line ?? undefined;
};

export type Failure = NonNullable<(typeof reconciliations.$inferSelect)['failure']>;

/** Returns false when it has failed already, for whichever reason. */
export const failRun = async (sql: ISql, id: string, failure: Failure): Promise<boolean> => {
  const failed = await sql`update reconciliations set step = 'removing', failure = ${failure}, line_done = 0,
    failed_attempts = 0, touched_at = now()
    where reconciliation_id = ${id} and failure is null`;
  return failed.count > 0;
};

/** So many transactions one after the other failed: the reconciliation cannot be compared. */
const maxFailedAttempts = 10;

/** Counts a transaction that failed; gives the reconciliation up after too many. */
export const countFailedAttempt = async (sql: Sql, id: string): Promise<void> => {
  const [row] = await sql<{ step: Run['step']; failed: number }[]>`
    update reconciliations set failed_attempts = failed_attempts + 1 where reconciliation_id = ${id}
    returning step, failed_attempts as failed`;
  // One that is compared already keeps its result.
  if (row !== undefined && row.failed >= maxFailedAttempts && row.step !== 'removing')
    await failRun(sql, id, 'internal');
};

/** Begins the next step; it is on disk when the transaction is committed, because clients act on the status. */
export const enterStep = async (
  tx: TransactionSql,
  id: string,
  step: 'entries' | 'removing' | 'ended',
): Promise<void> => {
  await tx`set local synchronous_commit to default`;
  await tx`update reconciliations set step = ${step}, line_done = 0, entries_done = period_from
    where reconciliation_id = ${id}`;
};

export const removeLines = async (tx: TransactionSql, { id, lineDone }: Run, to: number): Promise<void> => {
  await tx`
    with removed as (
      delete from reconciliation_lines where reconciliation_id = ${id} and line > ${lineDone} and line <= ${to}
    )
    update reconciliations set line_done = ${to}, failed_attempts = 0, touched_at = now() where reconciliation_id = ${id}`;
};

/**
 * Deletes some differences of reconciliations older than `days`, and then the reconciliations and dry runs. Repaired
 * differences are kept, with their reconciliation and the dry run that was applied. Returns whether there may be more.
 */
export const removeExpired = async (sql: Sql, days: number, most: number): Promise<boolean> => {
  const removed = await sql`
    delete from reconciliation_differences where (reconciliation_id, number) in (
      select reconciliation_id, number from reconciliation_differences join reconciliations using (reconciliation_id)
      where created_at < now() - make_interval(days => ${days}) and repair_transaction_id is null limit ${most})`;
  if (removed.count > 0) return true;
  await sql`
    delete from reconciliations expired where created_at < now() - make_interval(days => ${days}) and step = 'ended'
      and not exists (select from reconciliation_differences left_over
        where left_over.reconciliation_id = expired.reconciliation_id)`;
  await sql`
    delete from reconciliation_dry_runs expired where created_at < now() - make_interval(days => ${days})
      and not exists (select from reconciliation_differences repaired
        where repaired.reconciliation_id = expired.reconciliation_id and repaired.dry_run_id = expired.dry_run_id)`;
  return false;
};
