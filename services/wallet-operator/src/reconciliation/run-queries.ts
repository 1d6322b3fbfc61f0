import type { ISql, Sql, TransactionSql } from 'postgres';
import type { reconciliations } from '../db/tables.ts';

/** A reconciliation that is in progress. */
export interface Run {
  id: string;
  step: 'receiving' | 'lines' | 'entries' | 'removing';
  periodFrom: string;
  periodTo: string;
  /** Lines up to this one are compared, or removed. */
  lineDone: number;
  /** The last one of the next lines; null when none is left. Numbers may have gaps: empty lines are not stored. */
  nextLine: number | null;
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
export const claimRun = async (tx: TransactionSql, linesAtOnce: number): Promise<Run | undefined> => {
  // What a crash of PostgreSQL takes back is compared again, so no transaction of a step waits until it is on disk.
  // Plans are made when the tables are empty, or have no statistics yet. Each look-up is by a key; OFFSET 0 in those of
  // EXISTS forbids to collect all rows of a table in advance.
  await tx`select set_config(name, 'off', true)
    from unnest(array['synchronous_commit', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name`;
  const [run] = await tx<Run[]>`
    with run as materialized (
      select * from reconciliations
      where step in ('lines', 'entries', 'removing')
        or step = 'receiving' and touched_at < now() - make_interval(secs => ${interruptedAfterS})
      order by failed_attempts, reconciliation_id limit 1 for update skip locked
    )
    select reconciliation_id as id, step, period_from as "periodFrom", period_to as "periodTo", line_done as "lineDone",
      entries_done as "entriesDone", differences, failed_attempts as "failedAttempts",
      case when step <> 'entries' then (
        select max(line) from (
          select line.line from reconciliation_lines line
          where line.reconciliation_id = run.reconciliation_id and line.line > run.line_done
          order by line.line limit ${linesAtOnce}) next_lines) end as "nextLine"
    from run`;
  return run;
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
export const removeExpired = async (sql: Sql, days: number, limit: number): Promise<boolean> => {
  const removed = await sql`
    delete from reconciliation_differences where (reconciliation_id, number) in (
      select reconciliation_id, number from reconciliation_differences join reconciliations using (reconciliation_id)
      where created_at < now() - make_interval(days => ${days}) and repair_transaction_id is null limit ${limit})`;
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
