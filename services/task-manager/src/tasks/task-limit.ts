import { createLru } from '@platform/service-kit/lru';
import { Conflict } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { hasListedTasks, hasTasks } from './queries.ts';

/** Throws Conflict for a user who has too many rows to add `rows` further ones (default 1). */
export type RowLimit = (sql: Queries, userId: string, rows?: number) => Promise<void>;

/**
 * Limits the rows of each user. The check reads an index entry per row, so a process repeats it only after a hundredth of `max` new
 * rows; a user may exceed the limit by that many. A refusal is cached for a second.
 */
const createRowLimit = (
  max: number,
  isReached: (sql: Queries, userId: string, max: number) => Promise<boolean>,
  limitReached: () => Conflict,
): RowLimit => {
  const uncheckedRows = createLru<string, number>(10_000, 60_000);
  const refused = createLru<string, true>(10_000, 1000);
  return async (sql, userId, rows = 1) => {
    if (refused.has(userId)) throw limitReached();
    const remaining = uncheckedRows.get(userId) ?? 0;
    if (remaining < rows && (await isReached(sql, userId, max))) {
      refused.set(userId, true);
      throw limitReached();
    }
    uncheckedRows.set(userId, remaining < rows ? Math.floor(max / 100) : remaining - rows);
  };
};

/** Creates limits for the own tasks of a user and for the tasks of all their lists together. Both throw Conflict `too_many_tasks`. */
export const createTaskLimits = (max: number) => {
  const limit = (isReached: typeof hasTasks, subject: string): RowLimit =>
    createRowLimit(
      max,
      isReached,
      () => new Conflict('too_many_tasks', `${subject} ${max} tasks; delete tasks that you no longer need.`),
    );
  return { own: limit(hasTasks, 'You have'), listed: limit(hasListedTasks, 'Your lists have') };
};
