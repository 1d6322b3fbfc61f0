import { sessionEnded, type Caller } from '@platform/auth/bearer';
import { pageListJson, pageOf, type Page } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import { idParams, record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { isLatePage } from '@platform/service-kit/search-pool';
import type { ISql } from 'postgres';
import type { Context } from '../context.ts';
import { createTimeZones } from './time-zones.ts';
import { readPage } from './list-queries.ts';
import { deleteTask, findTask, type TaskPath } from './queries.ts';
import { NewTask, Task, TaskList, TaskPatch, TaskQuery, type Filters } from './schema.ts';
import { changeTask, createTask, lockBatch, lockTask } from './use-cases.ts';
import { bytesOf } from './written-limit.ts';

const pathOf = ({ params: { id }, caller }: { params: { id: string }; caller: Caller }): TaskPath => ({
  id,
  userId: caller.subject,
});

export const taskRoutes = ({
  tokens,
  searches,
  limitTasks,
  limitWritten,
  database: { sql },
}: Context): Route[] => {
  const user = tokens.guard();
  const requireTimeZone = createTimeZones(sql);
  /** Runs filtered lists and late pages as searches, because they may read all tasks of a user. */
  const runRead = <T>(
    caller: string,
    filters: Filters,
    page: Page,
    read: (sql: ISql) => Promise<T>,
  ): Promise<T> =>
    isLatePage(page) || Object.values(filters).some((value) => value !== undefined)
      ? searches.run(caller, read)
      : read(sql);
  return record({
    path: '/tasks',
    basePath: '/api/v1',
    params: idParams('01900000-0000-7000-8000-00000000d000'),
    tag: 'Tasks',
    name: 'task',
    schema: Task,
    read: user,
    write: user,
    sql,
    list: {
      summary: 'Tasks, filtered and sorted, by page',
      query: TaskQuery,
      body: TaskList,
      confirmsReader: true,
      fast: true,
      page: async ({ page: number, limit, sort, list: listId, ...filters }, { caller }) => {
        await requireTimeZone(filters.tz);
        const page = pageOf({ page: number, limit });
        const session = { userId: caller.subject, id: caller.sessionId ?? '' };
        const listing = { session, listId, filters, sort };
        const read = (connection: ISql) => readPage(connection, listing, page);
        const tasks = await runRead(caller.subject, filters, page, read);
        if (tasks === undefined) throw listId === undefined ? sessionEnded() : new NotFound('list');
        return pageListJson('tasks', page, { items: [tasks.json], hasMore: tasks.hasMore });
      },
    },
    find: (tx, target, lock) => (lock ? lockTask(tx, pathOf(target)) : findTask(tx, pathOf(target), false)),
    create: {
      input: NewTask,
      example: { title: 'Water the plants', tags: ['home'], priority: 'high' },
      conflict:
        '409 `too_many_tasks` if the user, or the lists of the user together, already have MAX_TASKS_PER_USER tasks.',
      keep: limitWritten,
      insert: async (tx, input, { caller }) => {
        await limitWritten?.(caller.subject, bytesOf(input));
        return createTask(tx, caller.subject, input, limitTasks);
      },
    },
    change: {
      patch: TaskPatch,
      example: { status: 'done' },
      save: async (tx, patch, target, current) => {
        // Counts the complete task, because a change writes the whole row again.
        await limitWritten?.(target.caller.subject, Buffer.byteLength(current) + bytesOf(patch));
        return changeTask(tx, pathOf(target), patch);
      },
    },
    remove: { delete: (tx, target) => deleteTask(tx, pathOf(target)) },
    batch: { lock: (tx, operations, { subject }) => lockBatch(tx, subject, operations) },
  });
};
