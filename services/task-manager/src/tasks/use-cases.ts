import type { Caller } from '@platform/auth/bearer';
import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { readPage } from './list-queries.ts';
import { deleteTask, findTask, insertTask, updateTask } from './queries.ts';
import type { NewTask, TaskPatch, TaskQuery } from './schema.ts';

/** What `record()` does with tasks, each of which belongs to a user. */
export const tasksOf = ({ database: { sql } }: Context) => ({
  page: async (
    { page: number, limit, sort, ...filters }: z.output<typeof TaskQuery>,
    { subject: userId }: Caller,
  ) => {
    const page = pageOf({ page: number, limit });
    const tasks = await readPage(sql, { userId, filters, sort }, { offset: page.offset, limit: limit + 1 });
    return pageListJson('tasks', page, slice(tasks, limit));
  },
  find: (on: Queries, id: string, { subject: userId }: Caller, lock: boolean) =>
    findTask(on, { userId, id }, lock),
  create: (on: Queries, input: NewTask, { subject }: Caller) => insertTask(on, subject, input),
  save: (on: Queries, id: string, patch: TaskPatch, { subject: userId }: Caller) =>
    updateTask(on, { userId, id }, patch),
  remove: (on: Queries, id: string, { subject: userId }: Caller) => deleteTask(on, { userId, id }),
});
