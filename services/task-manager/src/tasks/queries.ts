import { jsonTable } from '@platform/service-kit/json-table';
import type { Slice } from '@platform/feed/followed-list';
import type { Queries, Stored } from '@platform/service-kit/record';
import { v7 as uuidv7 } from 'uuid';
import type { NewTask, TaskPatch } from './schema.ts';

/** Who asks for a task. */
export interface TaskPath {
  id: string;
  userId: string;
}

export const tasks = jsonTable('tasks', 'json');

/** The owners of the tasks that a user sees: the user, and the lists that they are a member of. */
const ownersOf = (sql: Queries, userId: string) => sql`
  select ${userId}::uuid as owner union all select list_id from list_members where user_id = ${userId}`;

/** Identifies a task that the user sees: another one is not found. */
const keyOf = (sql: Queries, { id, userId }: TaskPath) => ({
  owner_id: sql`any (array(${ownersOf(sql, userId)}))`,
  id,
});

/** Those of these tasks that the user sees. */
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

/** The bytes of those of these tasks that the user sees. */
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

/** The tasks behind an id that the user sees. Each list is read no further than one of its tasks could be among them. */
export const findTasksAfter = (sql: Queries, userId: string, { after, limit }: Slice): Promise<Stored[]> =>
  sql`
    select id, json from (
      select owner_id, id from (${ownersOf(sql, userId)}) visible cross join lateral (
        select owner_id, id from tasks where owner_id = owner and id > ${after} order by id limit ${limit}) own
      order by id limit ${limit}) chosen
      join tasks using (owner_id, id)
    order by id`;

/** Locks a task of the user. */
export const lockOwnTask = (sql: Queries, { id, userId }: TaskPath): Promise<string | undefined> =>
  tasks.find(sql, { owner_id: userId, id }, true);

/** Those of these lists that some of these tasks are in. */
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

/** Locks those of these tasks that belong to one of the owners, in the order of their ids. */
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

/** The time of the database, because clocks of instances differ; the same in all columns of a statement. */
const now = (sql: Queries) => sql`statement_timestamp()`;

/** Whether a user has at least this number of tasks. */
export const hasTasks = async (sql: Queries, userId: string, number: number): Promise<boolean> => {
  const rows = await sql`select from tasks where owner_id = ${userId} offset ${number - 1} limit 1`;
  return rows.length > 0;
};

/** Whether the lists that a user is in have at least this number of tasks together. */
export const hasListedTasks = async (sql: Queries, userId: string, number: number): Promise<boolean> => {
  const rows = await sql`
    select from list_members join tasks on owner_id = list_members.list_id
    where user_id = ${userId} offset ${number - 1} limit 1`;
  return rows.length > 0;
};

/** A task at its first version. */
export const insertTask = async (sql: Queries, userId: string, input: NewTask): Promise<Stored> => {
  const ownerId = input.listId ?? userId;
  const id = uuidv7();
  const completedAt = input.status === 'done' ? now(sql) : null;
  const values = { ownerId, id, ...input, completedAt, createdAt: now(sql), updatedAt: now(sql), version: 1 };
  return { id, json: await tasks.insert(sql, values) };
};

/** The next version of a task. `completed_at` is set while the task is done; a new due date without a time clears `due_at`. */
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
