import { createLru } from '@platform/service-kit/lru';
import { Conflict } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { hasTasks } from './queries.ts';

/** Throws Conflict `too_many_tasks` for a user who has as many tasks as allowed. */
export type TaskLimit = (sql: Queries, userId: string) => Promise<void>;

/**
 * Bounds the tasks of each user, which nothing else would delete. Looking for the last one that is allowed reads an entry of
 * an index for each task, so a process does it once for a hundredth of them; that many may be created beyond the limit.
 * A refusal holds for a second.
 */
export const createTaskLimit = (max: number): TaskLimit => {
  const unchecked = createLru<string, number>(10_000, 60_000);
  const refused = createLru<string, true>(10_000, 1000);
  const tooMany = () =>
    new Conflict('too_many_tasks', `You have ${max} tasks; delete some that are not needed any more.`);
  return async (sql, userId) => {
    if (refused.has(userId)) throw tooMany();
    const left = unchecked.get(userId) ?? 0;
    if (left === 0 && (await hasTasks(sql, userId, max))) {
      refused.set(userId, true);
      throw tooMany();
    }
    unchecked.set(userId, left === 0 ? Math.floor(max / 100) : left - 1);
  };
};
