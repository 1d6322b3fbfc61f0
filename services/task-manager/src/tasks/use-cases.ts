import { ValidationFailed } from '@platform/service-kit/problem';
import { inTransaction, type Operation, type Queries, type Stored } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import { enter, findWritableLists, isMember, lockLists } from '../lists/use-cases.ts';
import {
  findListsOf,
  findTask,
  insertTask,
  lockOwnTask,
  lockTasks,
  updateTask,
  type TaskPath,
} from './queries.ts';
import type { NewTask, Task, TaskPatch } from './schema.ts';
import type { RowLimit } from './task-limit.ts';

const listOf = (json: string): string | null => (JSON.parse(json) as Task).listId;

/** The list is locked: who is a member now is one until the task is stored. */
const requireMember = async (on: Queries, listId: string | null, assigneeId: string): Promise<void> => {
  if (listId !== null && (await isMember(on, { listId, userId: assigneeId }))) return;
  throw new ValidationFailed({ assigneeId: ['must be the userId of a member of the list'] });
};

/** Creates a task of a user, or in a list that they may change. Throws NotFound for another list, and Conflict. */
export const createTask = (
  on: Queries,
  userId: string,
  input: NewTask,
  limitTasks: Record<'own' | 'listed', RowLimit>,
): Promise<Stored> => {
  const { listId, assigneeId } = input;
  const create = async (tx: Queries): Promise<Stored> => {
    if (listId !== null) await enter(tx, { listId, userId }, 'write');
    if (assigneeId !== null) await requireMember(tx, listId, assigneeId);
    await limitTasks[listId === null ? 'own' : 'listed'](tx, userId);
    return insertTask(tx, userId, input);
  };
  return listId === null ? create(on) : inTransaction(on, create);
};

/** Finds a task that the user may change, and locks it: in a list after the list, as every other change there. */
export const lockTask = async (tx: Queries, path: TaskPath): Promise<string | undefined> => {
  const json = (await lockOwnTask(tx, path)) ?? (await findTask(tx, path, false));
  const listId = json === undefined ? null : listOf(json);
  if (listId === null) return json;
  await enter(tx, { listId, userId: path.userId }, 'write');
  return findTask(tx, path, true);
};

/** Changes a task that is locked. */
export const changeTask = async (tx: Queries, path: TaskPath, patch: TaskPatch): Promise<string> => {
  if (typeof patch.assigneeId === 'string') {
    const json = orNotFound(await findTask(tx, path, false), 'task');
    await requireMember(tx, listOf(json), patch.assigneeId);
  }
  return updateTask(tx, path, patch);
};

/** Locks what the operations of a batch will lock, in the order of their ids: first lists, as every other change does. */
export const lockBatch = async (
  tx: Queries,
  userId: string,
  operations: readonly Operation[],
): Promise<void> => {
  const ids = operations.flatMap((operation) => (operation.op === 'create' ? [] : operation.id));
  const named = operations.flatMap(({ op, task }) =>
    op === 'create' ? ((task as NewTask).listId ?? []) : [],
  );
  const writable = await findWritableLists(tx, userId);
  const concerned = [...named, ...(await findListsOf(tx, writable, ids))];
  const listIds = writable.filter((listId) => concerned.includes(listId));
  await lockLists(tx, listIds);
  await lockTasks(tx, [userId, ...listIds], ids);
};
