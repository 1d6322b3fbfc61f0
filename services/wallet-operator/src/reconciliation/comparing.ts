import { startBackground, type Background } from '@platform/service-kit/background';
import type { Log } from '@platform/service-kit/log';
import type { Sql, TransactionSql } from 'postgres';
import {
  claimRun,
  compareEntries,
  compareLines,
  enterStep,
  failRun,
  hasLines,
  removeExpired,
  removeLines,
  type Run,
} from './comparing-store.ts';

/** Lines of one transaction: it takes some 100 ms, so that no snapshot keeps old versions of players for long. */
const linesAtOnce = 2000;

/** More than these, and the statement is of another period or read with wrong columns. */
const maxDifferences = 100_000;

/** How long reconciliations are kept. */
const keptDays = 90;
const expiryEveryMs = 3_600_000;

/** Entries of one transaction, about. */
const entriesAtOnce = 10_000;
const maxSliceMs = 86_400_000;

/** Compares statements in small transactions, each of which stores how far it came: a crash repeats only the last one. */
export const createComparer = (sql: Sql) => {
  /** Length of the next slice of the period: the rate of entries is not known. */
  let sliceMs = 60_000;

  const lookUpEntries = async (tx: TransactionSql, run: Run): Promise<void> => {
    const from = new Date(run.entriesDone ?? Number.NaN);
    const to = new Date(from.getTime() + sliceMs);
    const count = await compareEntries(tx, run, to);
    if (count > entriesAtOnce) sliceMs = Math.max(1000, sliceMs / 2);
    else if (count < entriesAtOnce / 2) sliceMs = Math.min(maxSliceMs, sliceMs * 2);
    if (to >= new Date(run.periodTo)) await enterStep(tx, run.id, 'removing');
  };

  const work = async (tx: TransactionSql, run: Run): Promise<void> => {
    const { id, step, lastLine, lineDone, differences } = run;
    const to = lineDone + linesAtOnce;
    if (step === 'receiving') return failRun(tx, id, 'interrupted');
    if (step === 'removing') {
      await removeLines(tx, run, to);
      if (to >= lastLine) await enterStep(tx, id, 'ended');
      return;
    }
    if (!(await hasLines(tx, run))) return failRun(tx, id, 'statement_lost');
    if (differences > maxDifferences) return failRun(tx, id, 'too_many_differences');
    if (step === 'entries') return lookUpEntries(tx, run);
    await compareLines(tx, run, to);
    if (to >= lastLine) await enterStep(tx, id, 'entries');
  };

  /** One transaction of the oldest reconciliation with work left; false when there is none. */
  return async (): Promise<boolean> => {
    let worked = false;
    await sql.begin(async (tx) => {
      const run = await claimRun(tx);
      if (run !== undefined) await work(tx, run);
      worked = run !== undefined;
    });
    return worked;
  };
};

/** Compares what was received, and removes what expired, until it is disposed of. Several processes share the work. */
export const startComparing = (sql: Sql, { everyMs, log }: { everyMs: number; log: Log }): Background => {
  const compare = createComparer(sql);
  let nextExpiry = performance.now() + expiryEveryMs * Math.random();
  const run = async (): Promise<boolean> => {
    if (await compare()) return true;
    if (performance.now() < nextExpiry) return false;
    const more = await removeExpired(sql, keptDays, linesAtOnce);
    if (!more) nextExpiry = performance.now() + expiryEveryMs;
    return more;
  };
  return startBackground({ name: 'reconciliation', everyMs, log, run });
};
