import { setTimeout as sleep } from 'node:timers/promises';
import { startBackground, type Background } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql, TransactionSql } from 'postgres';
import { compareEntries, compareLines, hasOneFactor } from './comparing-queries.ts';
import {
  claimRun,
  countFailedAttempt,
  enterStep,
  failRun,
  removeExpired,
  removeLines,
  type Failure,
  type Run,
} from './run-queries.ts';

/** Lines in one transaction, which takes some 10 ms. With 2,000 lines, the slowest callbacks took five times as long. */
const linesPerTransaction = 500;

/** Above this number, the statement is of another period, or was read with wrong columns. */
const maxDifferences = 100_000;

/** Length of the pause after each transaction, relative to the transaction, so that callbacks come first. */
const pauseShare = 0.25;

/** Days after which reconciliations are deleted. */
const keptDays = 90;
const expiryEveryMs = 3_600_000;

/** Approximate number of entries in one transaction. */
const entriesPerTransaction = 10_000;
const firstSliceMs = 60_000;
const minSliceMs = 100;
const maxSliceMs = 86_400_000;

/** Compares statements in small transactions, each of which stores its progress: a crash repeats only the last one. */
export const createComparer = (sql: Sql) => {
  /** Length of the next slice of the period. It adapts to the number of entries per second, which is not known. */
  let sliceMs = firstSliceMs;

  const lookUpEntries = async (tx: TransactionSql, run: Run): Promise<void> => {
    const from = new Date(run.entriesDone ?? Number.NaN);
    const isFirstSlice = from.getTime() === new Date(run.periodFrom).getTime();
    // The last period may have had far more or fewer entries.
    if (isFirstSlice && run.failedAttempts === 0) sliceMs = firstSliceMs;
    const to = new Date(from.getTime() + sliceMs);
    const count = await compareEntries(tx, run, to);
    if (count > entriesPerTransaction) sliceMs = Math.max(minSliceMs, sliceMs / 2);
    else if (count < entriesPerTransaction / 2) sliceMs = Math.min(maxSliceMs, sliceMs * 2);
    if (to >= new Date(run.periodTo)) await enterStep(tx, run.id, 'removing');
  };

  const advance = async (tx: TransactionSql, run: Run): Promise<void> => {
    const { id, step, differences, nextLine } = run;
    const fail = async (failure: Failure) => void (await failRun(tx, id, failure));
    if (step === 'receiving') return fail('interrupted');
    if (step === 'removing')
      return nextLine === null ? enterStep(tx, id, 'ended') : removeLines(tx, run, nextLine);
    if (differences > maxDifferences) return fail('too_many_differences');
    if (step === 'entries') return lookUpEntries(tx, run);
    if (nextLine !== null) return compareLines(tx, run, nextLine);
    return (await hasOneFactor(tx, run)) ? fail('one_factor') : enterStep(tx, id, 'entries');
  };

  /** Runs one transaction of the oldest unfinished reconciliation; false when there is none. */
  return async (): Promise<boolean> => {
    let run = undefined as Run | undefined;
    try {
      await sql.begin(async (tx) => {
        run = await claimRun(tx, linesPerTransaction);
        if (run !== undefined) await advance(tx, run);
      });
    } catch (error) {
      // The slice may have had so many entries that the statement exceeded its time limit.
      sliceMs = Math.max(minSliceMs, sliceMs / 4);
      // Counting fails too if the database is unavailable; then the first error is the one to throw.
      if (run !== undefined) await countFailedAttempt(sql, run.id).catch(() => undefined);
      throw error;
    }
    return run !== undefined;
  };
};

/** Compares received statements and deletes expired reconciliations in the background. Several processes share the work. */
export const startComparing = (sql: Sql, { everyMs, log }: { everyMs: number; log: Log }): Background => {
  const compare = createComparer(sql);
  let nextExpiry = performance.now() + expiryEveryMs * Math.random();
  const run = async (): Promise<boolean> => {
    const start = performance.now();
    if (await compare()) {
      await sleep((performance.now() - start) * pauseShare);
      return true;
    }
    if (performance.now() < nextExpiry) return false;
    const hasMore = await removeExpired(sql, keptDays, linesPerTransaction);
    if (!hasMore) nextExpiry = performance.now() + expiryEveryMs;
    return hasMore;
  };
  return startBackground({ name: 'reconciliation', everyMs, log, run });
};
