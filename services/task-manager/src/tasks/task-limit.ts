import { createLru } from '@platform/service-kit/lru';
import { Conflict } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { hasListedTasks, hasTasks } from './queries.ts';

/** Throws Conflict for a user who has as many rows of a table as allowed; `rows` are about to be added. */
export type RowLimit = (sql: Queries, userId: string, rows?: number) => Promise<void>;

/**
 * Bounds the rows of each user. Looking for the last one that is allowed reads an entry of an index for each row, so a process
 * does it once for a hundredth of them; that many may be created beyond the limit. A refusal holds for a second.
 */
const createRowLimit = (
  max: number,
  isReached: (sql: Queries, userId: string, max: number) => Promise<boolean>,
  tooMany: () => Conflict,
): RowLimit => {
  const unchecked = createLru<string, number>(10_000, 60_000);
  const refused = createLru<string, true>(10_000, 1000);
  return async (sql, userId, rows = 1) => {
    if (refused.has(userId)) throw tooMany();
    const left = unchecked.get(userId) ?? 0;
    if (left < rows && (await isReached(sql, userId, max))) {
      refused.set(userId, true);
      throw tooMany();
    }
    unchecked.set(userId, left < rows ? Math.floor(max / 100) : left - rows);
  };
};

/** Bounds the tasks of each user, and those of all lists that they are in. The Conflict is `too_many_tasks`. */
export const createTaskLimits = (max: number) => {
  const limit = (isReached: typeof hasTasks, have: string): RowLimit =>
    createRowLimit(
      max,
      isReached,
      () => new Conflict('too_many_tasks', `${have} ${max} tasks; delete some that are not needed any more.`),
    );
  return { own: limit(hasTasks, 'You have'), listed: limit(hasListedTasks, 'Your lists have') };
};
