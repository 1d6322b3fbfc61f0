import type { ISql, Sql, TransactionSql } from 'postgres';
import type { reconciliations } from '../db/tables.ts';

/** An unfinished reconciliation. */
export interface Run {
  id: string;
  step: 'receiving' | 'lines' | 'entries' | 'removing';
  periodFrom: string;
  periodTo: string;
  /** Lines up to this number are compared, or removed. */
  lineDone: number;
  /** Number of the last line of the next transaction; null when no line is left. Numbers have gaps where lines were empty. */
  nextLine: number | null;
  /** Entries before this time are looked up; null before the step `entries`. */
  entriesDone: string | null;
  differences: number;
  /** Failed transactions since the last one that succeeded. */
  failedAttempts: number;
}

/** A reconciliation counts as interrupted when no line was received for so many seconds. */
const interruptedAfterS = 120;

/**
 * Locks the oldest unfinished reconciliation until the end of the transaction, except those that another process has locked.
 * Those with failed attempts come last. Undefined when there is none.
 */
export const claimRun = async (tx: TransactionSql, maxLines: number): Promise<Run | undefined> => {
  // Without `synchronous_commit` a crash of PostgreSQL can lose transactions; their lines are then compared again.
  // The other settings force look-ups by key, because plans are made while the tables are empty. OFFSET 0 in EXISTS keeps
  // the planner from collecting all rows of a table first.
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
          order by line.line limit ${maxLines}) next_lines) end as "nextLine"
    from run`;
  return run;
};

export type Failure = NonNullable<(typeof reconciliations.$inferSelect)['failure']>;

/** Marks a reconciliation as failed; its lines are removed next. Returns false when it had already failed. */
export const failRun = async (sql: ISql, id: string, failure: Failure): Promise<boolean> => {
  const failed = await sql`update reconciliations set step = 'removing', failure = ${failure}, line_done = 0,
    failed_attempts = 0, touched_at = now()
    where reconciliation_id = ${id} and failure is null`;
  return failed.count > 0;
};

/** After so many failed transactions in a row, the reconciliation fails. */
const maxFailedAttempts = 10;

/** Counts a failed transaction; after too many, marks the reconciliation as failed. */
export const countFailedAttempt = async (sql: Sql, id: string): Promise<void> => {
  const [row] = await sql<{ step: Run['step']; failed: number }[]>`
    update reconciliations set failed_attempts = failed_attempts + 1 where reconciliation_id = ${id}
    returning step, failed_attempts as failed`;
  // In the step `removing` the comparison is complete, so its result stays.
  if (row !== undefined && row.failed >= maxFailedAttempts && row.step !== 'removing')
    await failRun(sql, id, 'internal');
};

/** Begins the next step. Its commit waits for the disk, because clients act on the status. */
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
 * Deletes up to `limit` differences of reconciliations older than `days`; when none is left, the reconciliations and dry
 * runs. Repaired differences stay, with their reconciliation and dry run. Returns whether there may be more.
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
