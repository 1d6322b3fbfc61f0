import type { ISql, Sql } from 'postgres';
import { verifySlice } from '../../sealing/verify.ts';
import { nextStoredDay, differingSums } from '../summary/proof.ts';
import { checkRuns } from './proof.ts';
import { endWalk, lockWalk, storeSlice } from './results.ts';
import { maxViolations, useIndexes, violation, type Violation } from './queries.ts';

const checkpointsPerSlice = 16;

interface Slice {
  /** Number of the last checkpoint of the slice; undefined when the slice is empty. */
  lastNumber: number | undefined;
  violations: Violation[];
}

/** Compares the next checkpoints after `after`, up to `upTo`, with their entries, and checks these entries. */
const checkSlice = async (sql: ISql, after: number, upTo: number): Promise<Slice> => {
  await useIndexes(sql);
  const limit = Math.max(0, Math.min(checkpointsPerSlice, upTo - after));
  const { lastNumber, runs, faults } = await verifySlice(sql, after, limit);
  const differing = faults.map((fault) => violation('checkpoint_differs', fault));
  return { lastNumber, violations: [...differing, ...(await checkRuns(sql, runs))] };
};

const checkDay = async (sql: ISql, day: string): Promise<Violation[]> =>
  (await differingSums(sql, day, maxViolations)).map((sum) => violation('daily_sum_differs', sum));

/** Checks all sealed entries and the sums of all days, without a pause and without storing the result. */
export const checkSealed = async (sql: Sql): Promise<Violation[]> => {
  const violations: Violation[] = [];
  for (let after: number | undefined = 0; after !== undefined;) {
    const from: number = after;
    const slice: Slice = await sql.begin('read only', (tx) => checkSlice(tx, from, Number.POSITIVE_INFINITY));
    violations.push(...slice.violations);
    after = slice.lastNumber;
  }
  for (let day = await nextStoredDay(sql, null); day !== null; day = await nextStoredDay(sql, day))
    violations.push(...(await checkDay(sql, day)));
  return violations;
};

/**
 * Checks the next slice of sealed entries, or else the sums of the next day, and stores the result. Does nothing while the
 * walk is ahead of its plan, which takes 0.9 × `walkDays`. Returns the violations, and whether more may be due now.
 */
export const walkOn = (sql: Sql, walkDays: number): Promise<{ violations: Violation[]; isMore: boolean }> =>
  sql.begin(async (tx) => {
    const walk = await lockWalk(tx, walkDays * 0.9);
    // Another process is walking.
    if (walk === undefined) return { violations: [], isMore: false };
    const slice = await checkSlice(tx, walk.number, walk.dueNumber);
    if (slice.lastNumber !== undefined) {
      await storeSlice(tx, walk, slice.violations, { number: slice.lastNumber, day: walk.day });
      return { violations: slice.violations, isMore: true };
    }
    const day = await nextStoredDay(tx, walk.day);
    if (day !== null && walk.dueDay !== null && day <= walk.dueDay) {
      const violations = await checkDay(tx, day);
      await storeSlice(tx, walk, violations, { number: walk.number, day });
      return { violations, isMore: true };
    }
    if (walk.isOver) await endWalk(tx, walk);
    return { violations: [], isMore: false };
  });
