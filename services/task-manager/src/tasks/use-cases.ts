import { sessionEnded, type Caller } from '@platform/auth/bearer';
import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { readPage } from './list-queries.ts';
import { deleteTask, findTask, insertTask, updateTask } from './queries.ts';
import type { NewTask, TaskPatch, TaskQuery } from './schema.ts';

interface Tasks {
  caller: Caller;
}

interface OneTask extends Tasks {
  params: { id: string };
}

const nameOf = ({ params: { id }, caller: { subject: userId } }: OneTask) => ({ userId, id });

/** What `record()` does with tasks, each of which belongs to a user. */
export const tasksOf = ({ database: { sql }, searches }: Context) => ({
  page: async (
    { page: number, limit, sort, ...filters }: z.output<typeof TaskQuery>,
    { caller: { subject: userId, sessionId = '' } }: Tasks,
  ) => {
    const page = pageOf({ page: number, limit });
    const listing = { session: { userId, id: sessionId }, filters, sort };
    const read = (on: Sql) => readPage(on, listing, { offset: page.offset, limit: limit + 1 });
    const tasks = await (filters.q === undefined ? read(sql) : searches.run(userId, read));
    if (tasks === undefined) throw sessionEnded();
    return pageListJson('tasks', page, slice(tasks, limit));
  },
  find: (on: Queries, task: OneTask, lock: boolean) => findTask(on, nameOf(task), lock),
  insert: (on: Queries, input: NewTask, { caller }: Tasks) => insertTask(on, caller.subject, input),
  save: (on: Queries, patch: TaskPatch, task: OneTask) => updateTask(on, nameOf(task), patch),
  remove: (on: Queries, task: OneTask) => deleteTask(on, nameOf(task)),
});
