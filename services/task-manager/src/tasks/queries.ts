import { jsonTable } from '@platform/service-kit/json-table';
import type { Slice } from '@platform/feed/followed-list';
import type { Queries, Stored } from '@platform/service-kit/record';
import { v7 as uuidv7 } from 'uuid';
import type { NewTask, TaskPatch } from './schema.ts';

/** A task and the user who accesses it. */
export interface TaskPath {
  id: string;
  userId: string;
}

export const tasks = jsonTable('tasks', 'json');

/** SQL: owners of the tasks that a user may see, which are the user and the lists that they are a member of. */
const ownersOf = (sql: Queries, userId: string) => sql`
  select ${userId}::uuid as owner union all select list_id from list_members where user_id = ${userId}`;

/** Condition that finds a task only if the user may see it. */
const keyOf = (sql: Queries, { id, userId }: TaskPath) => ({
  owner_id: sql`any (array(${ownersOf(sql, userId)}))`,
  id,
});

/** Tasks with these ids that the user may see, as JSON by id. */
export const findTasksById = async (
  sql: Queries,
  userId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await sql<Stored[]>`
    select id, json from tasks
    where owner_id = any (array(${ownersOf(sql, userId)})) and id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, json }) => [id, json]));
};

/** Sizes in bytes, by id, of the tasks with these ids that the user may see. */
export const findSizes = async (
  sql: Queries,
  userId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql<{ id: string; bytes: number }[]>`
    select id, octet_length(json) as bytes from tasks
    where owner_id = any (array(${ownersOf(sql, userId)})) and id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
};

/** Tasks after an id that the user may see, in the order of ids. Reads at most `limit` tasks of each owner. */
export const findTasksAfter = (sql: Queries, userId: string, { after, limit }: Slice): Promise<Stored[]> =>
  sql`
    select id, json from (
      select owner_id, id from (${ownersOf(sql, userId)}) visible cross join lateral (
        select owner_id, id from tasks where owner_id = owner and id > ${after} order by id limit ${limit}) of_owner
      order by id limit ${limit}) page
      join tasks using (owner_id, id)
    order by id`;

/** Locks a task that the user owns and returns it. Undefined for a task in a list. */
export const lockOwnTask = (sql: Queries, { id, userId }: TaskPath): Promise<string | undefined> =>
  tasks.find(sql, { owner_id: userId, id }, true);

/** Ids of those of these lists that contain one of these tasks. */
export const findListsOf = async (
  sql: Queries,
  listIds: readonly string[],
  ids: readonly string[],
): Promise<string[]> => {
  const rows = await sql<{ listId: string }[]>`
    select distinct list_id as "listId" from tasks
    where owner_id = any(${listIds}::uuid[]) and id = any(${ids}::uuid[])`;
  return rows.map(({ listId }) => listId);
};

/** Locks the tasks with these ids that belong to these owners, in the order of ids. */
export const lockTasks = async (
  tx: Queries,
  owners: readonly string[],
  ids: readonly string[],
): Promise<void> => {
  await tx`
    select from tasks where owner_id = any(${owners}::uuid[]) and id = any(${ids}::uuid[])
    order by id for update`;
};

export const findTask = (sql: Queries, path: TaskPath, lock: boolean): Promise<string | undefined> =>
  tasks.find(sql, keyOf(sql, path), lock);

export const deleteTask = (sql: Queries, path: TaskPath): Promise<void> =>
  tasks.remove(sql, keyOf(sql, path));

/** Clock of the database, because clocks of instances differ. The same value in all columns of a statement. */
const now = (sql: Queries) => sql`statement_timestamp()`;

/** Returns whether a user has at least this number of tasks. */
export const hasTasks = async (sql: Queries, userId: string, count: number): Promise<boolean> => {
  const rows = await sql`select from tasks where owner_id = ${userId} offset ${count - 1} limit 1`;
  return rows.length > 0;
};

/** Returns whether the lists of a user together have at least this number of tasks. */
export const hasListedTasks = async (sql: Queries, userId: string, count: number): Promise<boolean> => {
  const rows = await sql`
    select from list_members join tasks on owner_id = list_members.list_id
    where user_id = ${userId} offset ${count - 1} limit 1`;
  return rows.length > 0;
};

/** Stores a task with version 1. */
export const insertTask = async (sql: Queries, userId: string, input: NewTask): Promise<Stored> => {
  const ownerId = input.listId ?? userId;
  const id = uuidv7();
  const completedAt = input.status === 'done' ? now(sql) : null;
  const values = { ownerId, id, ...input, completedAt, createdAt: now(sql), updatedAt: now(sql), version: 1 };
  return { id, json: await tasks.insert(sql, values) };
};

/** Stores the next version of a task. Sets `completed_at` while the task is done. A new due date without a time clears `due_at`. */
export const updateTask = (sql: Queries, path: TaskPath, patch: TaskPatch): Promise<string> => {
  const {
    dueDate,
    dueAt = dueDate === undefined ? undefined : sql`case due_date when ${dueDate} then due_at end`,
  } = patch;
  const status = patch.status ?? null;
  const completedAt = sql`case coalesce(${status}, status) when 'done' then coalesce(completed_at, ${now(sql)}) end`;
  return tasks.update(sql, keyOf(sql, path), {
    ...patch,
    dueAt,
    completedAt,
    updatedAt: now(sql),
    version: sql`version + 1`,
  });
};
