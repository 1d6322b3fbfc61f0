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

/** Lines of one transaction: it takes some 10 ms. With 2,000, the slowest callbacks took five times as long meanwhile. */
const linesAtOnce = 500;

/** More than these, and the statement is of another period or read with wrong columns. */
const maxDifferences = 100_000;

/** How long each transaction is followed by a pause, against its own time: callbacks come first. */
const pausePerWork = 0.25;

/** How long reconciliations are kept. */
const keptDays = 90;
const expiryEveryMs = 3_600_000;

/** Entries of one transaction, about. */
const entriesAtOnce = 10_000;
const firstSliceMs = 60_000;
const minSliceMs = 100;
const maxSliceMs = 86_400_000;

/** Compares statements in small transactions, each of which stores how far it came: a crash repeats only the last one. */
export const createComparer = (sql: Sql) => {
  /** Length of the next slice of the period: the rate of entries is not known. */
  let sliceMs = firstSliceMs;

  const lookUpEntries = async (tx: TransactionSql, run: Run): Promise<void> => {
    const from = new Date(run.entriesDone ?? Number.NaN);
    // The rate of another period says nothing about this one.
    const isFirst = from.getTime() === new Date(run.periodFrom).getTime();
    if (isFirst && run.failedAttempts === 0) sliceMs = firstSliceMs;
    const to = new Date(from.getTime() + sliceMs);
    const count = await compareEntries(tx, run, to);
    if (count > entriesAtOnce) sliceMs = Math.max(minSliceMs, sliceMs / 2);
    else if (count < entriesAtOnce / 2) sliceMs = Math.min(maxSliceMs, sliceMs * 2);
    if (to >= new Date(run.periodTo)) await enterStep(tx, run.id, 'removing');
  };

  const work = async (tx: TransactionSql, run: Run): Promise<void> => {
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

  /** One transaction of the oldest reconciliation with work left; false when there is none. */
  return async (): Promise<boolean> => {
    let run = undefined as Run | undefined;
    try {
      await sql.begin(async (tx) => {
        run = await claimRun(tx, linesAtOnce);
        if (run !== undefined) await work(tx, run);
      });
    } catch (error) {
      // A slice with too many entries exceeds the time limit of statements.
      sliceMs = Math.max(minSliceMs, sliceMs / 4);
      // When the database is away, it is not counted either; the error that matters is the first one.
      if (run !== undefined) await countFailedAttempt(sql, run.id).catch(() => undefined);
      throw error;
    }
    return run !== undefined;
  };
};

/** Compares what was received, and removes what expired, until it is disposed of. Several processes share the work. */
export const startComparing = (sql: Sql, { everyMs, log }: { everyMs: number; log: Log }): Background => {
  const compare = createComparer(sql);
  let nextExpiry = performance.now() + expiryEveryMs * Math.random();
  const run = async (): Promise<boolean> => {
    const start = performance.now();
    if (await compare()) {
      await sleep((performance.now() - start) * pausePerWork);
      return true;
    }
    if (performance.now() < nextExpiry) return false;
    const more = await removeExpired(sql, keptDays, linesAtOnce);
    if (!more) nextExpiry = performance.now() + expiryEveryMs;
    return more;
  };
  return startBackground({ name: 'reconciliation', everyMs, log, run });
};
