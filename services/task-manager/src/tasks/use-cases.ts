import { pageList, pageOf, slice } from '@platform/pagination/list';
import { NotFound, Problem } from '@platform/service-kit/problem';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { once } from '../idempotency/use-cases.ts';
import { newTask, patchedTask } from './domain.ts';
import { readPage } from './list-queries.ts';
import type { NewTask, Task, TaskPatch, TaskQuery } from './schema.ts';
import { deleteTask, findTask, insertTask, lockTask, now, replaceTask } from './queries.ts';

/** Identifies a task; a task of another user is not found. */
interface TaskName {
  userId: string;
  id: string;
}

/** One page of a user's tasks. */
export const listTasks = async ({ database }: Context, userId: string, query: z.output<typeof TaskQuery>) => {
  const { page: number, limit, sort, ...filters } = query;
  const page = pageOf({ page: number, limit });
  const window = { offset: page.offset, limit: limit + 1 };
  const tasks = await readPage(database.sql, { userId, filters, sort }, window);
  return pageList('tasks', page, slice(tasks, limit));
};

/** Creates a task; a repeat with the same idempotency key gets the task as it was created. */
export const createTask = (
  context: Context,
  { userId, key, input }: { userId: string; key: string | undefined; input: NewTask },
): Promise<Task> =>
  once(context, { userId, key, request: input }, (transaction) =>
    insertTask(transaction, userId, newTask(input, { id: uuidv7(), now })),
  );

const assertFound = (task: Task | undefined): Task => {
  if (task === undefined) throw new NotFound('task');
  return task;
};

export const getTask = async ({ database }: Context, { userId, id }: TaskName): Promise<Task> =>
  assertFound(await findTask(database.orm, userId, id));

/** The versions that the caller is willing to change; undefined for any. */
type Expected = readonly string[] | undefined;

const refuseStale = (task: Task, expected: Expected): void => {
  if (expected === undefined || expected.includes(String(task.version))) return;
  throw new Problem({
    status: 412,
    code: 'stale',
    detail: 'The task has another version; read it again.',
  });
};

/** Patches a task that has an expected version; a patch that changes nothing leaves it as it is. */
export const patchTask = (
  { database }: Context,
  { userId, id, patch, expected }: TaskName & { patch: TaskPatch; expected: Expected },
): Promise<Task> =>
  database.orm.transaction(async (transaction) => {
    const task = assertFound(await lockTask(transaction, userId, id));
    refuseStale(task, expected);
    const next = patchedTask(task, patch, now);
    return next === undefined ? task : replaceTask(transaction, userId, next);
  });

/** Deletes a task that has an expected version. */
export const removeTask = (
  { database }: Context,
  { userId, id, expected }: TaskName & { expected: Expected },
): Promise<void> =>
  database.orm.transaction(async (transaction) => {
    refuseStale(assertFound(await lockTask(transaction, userId, id)), expected);
    await deleteTask(transaction, userId, id);
  });
