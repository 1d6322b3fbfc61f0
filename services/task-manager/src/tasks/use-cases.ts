import { pageList, pageOf } from '@platform/pagination/page-limit';
import { NotFound, Problem } from '@platform/service-kit/problem';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { once } from '../idempotency/use-cases.ts';
import { newTask, patchedTask } from './domain.ts';
import type { NewTask, Task, TaskPatch, TaskQuery } from './schema.ts';
import { deleteTask, findTask, insertTask, lockTask, replaceTask } from './store.ts';

/** A task as its owner names it. */
interface Named {
  userId: string;
  id: string;
}

/** Says whether the caller's condition holds for this version of the task. */
type Condition = (version: number) => boolean;

/** One page of a user's tasks. */
export const listTasks = async ({ pages }: Context, userId: string, query: z.output<typeof TaskQuery>) => {
  const { page: number, limit, sort, ...filters } = query;
  const page = pageOf({ page: number, limit });
  return pageList('tasks', page, await pages({ userId, filters, sort }, page));
};

/** Creates a task; a repeat under the same key gets the task as it was created. */
export const createTask = (
  context: Context,
  { userId, key, wanted }: { userId: string; key: string | undefined; wanted: NewTask },
): Promise<Task> =>
  once(context, { userId, key, request: wanted }, async (transaction) => {
    const task = newTask(wanted, { id: uuidv7(), now: context.now().toISOString() });
    await insertTask(transaction, userId, task);
    return task;
  });

const found = (task: Task | undefined): Task => {
  if (task === undefined) throw new NotFound('task');
  return task;
};

export const getTask = async ({ database }: Context, { userId, id }: Named): Promise<Task> =>
  found(await findTask(database.orm, userId, id));

const refuseStale = (task: Task, expected: Condition): void => {
  if (expected(task.version)) return;
  throw new Problem({
    status: 412,
    code: 'stale',
    detail: 'The task has changed since; read it again.',
  });
};

/** Patches a task that is still as `expected`; a patch that changes nothing leaves it untouched. */
export const patchTask = (
  { database, now }: Context,
  { userId, id, patch, expected }: Named & { patch: TaskPatch; expected: Condition },
): Promise<Task> =>
  database.orm.transaction(async (transaction) => {
    const task = found(await lockTask(transaction, userId, id));
    refuseStale(task, expected);
    const next = patchedTask(task, patch, now().toISOString());
    if (next !== undefined) await replaceTask(transaction, userId, next);
    return next ?? task;
  });

/** Deletes a task that is still as `expected`. */
export const removeTask = (
  { database }: Context,
  { userId, id, expected }: Named & { expected: Condition },
): Promise<void> =>
  database.orm.transaction(async (transaction) => {
    refuseStale(found(await lockTask(transaction, userId, id)), expected);
    await deleteTask(transaction, userId, id);
  });
