import { ValidationFailed } from '@platform/service-kit/problem';
import { inTransaction, type Operation, type Queries, type Stored } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import { requireRight, findWritableLists, isMember, lockLists } from '../lists/use-cases.ts';
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

const listIdOf = (json: string): string | null => (JSON.parse(json) as Task).listId;

/** Throws ValidationFailed unless the assignee is a member of the list. Lock the list before, so that the member stays one. */
const requireMember = async (tx: Queries, listId: string | null, assigneeId: string): Promise<void> => {
  if (listId !== null && (await isMember(tx, { listId, userId: assigneeId }))) return;
  throw new ValidationFailed({ assigneeId: ['must be the userId of a member of the list'] });
};

/** Creates an own task of a user, or a task in a list in which they may write. Throws as `requireRight` does, and Conflict. */
export const createTask = (
  sql: Queries,
  userId: string,
  input: NewTask,
  limitTasks: Record<'own' | 'listed', RowLimit>,
): Promise<Stored> => {
  const { listId, assigneeId } = input;
  const create = async (tx: Queries): Promise<Stored> => {
    if (listId !== null) await requireRight(tx, { listId, userId }, 'write');
    if (assigneeId !== null) await requireMember(tx, listId, assigneeId);
    await limitTasks[listId === null ? 'own' : 'listed'](tx, userId);
    return insertTask(tx, userId, input);
  };
  return listId === null ? create(sql) : inTransaction(sql, create);
};

/** Locks a task that the user may change and returns it. Locks its list first, as every change in a list does. */
export const lockTask = async (tx: Queries, path: TaskPath): Promise<string | undefined> => {
  const json = (await lockOwnTask(tx, path)) ?? (await findTask(tx, path, false));
  const listId = json === undefined ? null : listIdOf(json);
  if (listId === null) return json;
  await requireRight(tx, { listId, userId: path.userId }, 'write');
  return findTask(tx, path, true);
};

/** Changes a task that `lockTask` has locked. */
export const changeTask = async (tx: Queries, path: TaskPath, patch: TaskPatch): Promise<string> => {
  if (typeof patch.assigneeId === 'string') {
    const json = orNotFound(await findTask(tx, path, false), 'task');
    await requireMember(tx, listIdOf(json), patch.assigneeId);
  }
  return updateTask(tx, path, patch);
};

/** Locks all lists and tasks of a batch in advance: first the lists, then the tasks, each in the order of ids, to avoid deadlocks. */
export const lockBatch = async (
  tx: Queries,
  userId: string,
  operations: readonly Operation[],
): Promise<void> => {
  const ids = operations.flatMap((operation) => (operation.op === 'create' ? [] : operation.id));
  const targetLists = operations.flatMap(({ op, task }) =>
    op === 'create' ? ((task as NewTask).listId ?? []) : [],
  );
  const writable = await findWritableLists(tx, userId);
  const affectedLists = [...targetLists, ...(await findListsOf(tx, writable, ids))];
  const listIds = writable.filter((listId) => affectedLists.includes(listId));
  await lockLists(tx, listIds);
  await lockTasks(tx, [userId, ...listIds], ids);
};
