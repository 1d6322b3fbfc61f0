import type { Queries, Stored } from '@platform/service-kit/record';
import postgres from 'postgres';
import { v7 as uuidv7 } from 'uuid';
import { Task, type NewTask, type TaskPatch } from './schema.ts';

/** Identifies a task; a task of another user is not found. */
interface TaskName {
  userId: string;
  id: string;
}

interface Written {
  json: string;
}

const valueOf = (field: string): string => {
  const column = postgres.fromCamel(field);
  return field.endsWith('At')
    ? `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    : column;
};

/** SQL that selects a row of `tasks` as JSON text, which is sent as it is. The names come from our own schema. */
export const taskJson = `(select row_to_json(fields)::text from (select ${Object.keys(Task.shape)
  .map((field) => `${valueOf(field)} as "${field}"`)
  .join(', ')}) fields) as json`;

const columnsOf = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([field, value]) => [postgres.fromCamel(field), value]));

const matches = (sql: Queries, { userId, id }: TaskName) => sql`user_id = ${userId} and id = ${id}`;

/** The time of the database, because clocks of instances differ; the same in all columns of a statement. */
const now = (sql: Queries) => sql`statement_timestamp()`;

export const findTask = async (sql: Queries, name: TaskName, lock: boolean): Promise<string | undefined> => {
  const [row] = await sql<Written[]>`
    select ${sql.unsafe(taskJson)} from tasks where ${matches(sql, name)} ${lock ? sql`for update` : sql``}`;
  return row?.json;
};

/** A task at its first version. */
export const insertTask = async (sql: Queries, userId: string, input: NewTask): Promise<Stored> => {
  const id = uuidv7();
  const completedAt = input.status === 'done' ? now(sql) : null;
  const values = { userId, id, ...input, completedAt, createdAt: now(sql), updatedAt: now(sql), version: 1 };
  const [row] = await sql<[Written]>`
    insert into tasks ${sql(columnsOf(values))} returning ${sql.unsafe(taskJson)}`;
  return { id, json: row.json };
};

/** The next version of a task. `completed_at` is set while it is done. */
export const updateTask = async (sql: Queries, name: TaskName, patch: TaskPatch): Promise<string> => {
  const [row] = await sql<[Written]>`
    update tasks set ${sql(columnsOf(patch))}, updated_at = ${now(sql)}, version = version + 1,
      completed_at = case coalesce(${patch.status ?? null}, status) when 'done' then coalesce(completed_at, ${now(sql)}) end
    where ${matches(sql, name)} returning ${sql.unsafe(taskJson)}`;
  return row.json;
};

export const deleteTask = async (sql: Queries, name: TaskName): Promise<void> => {
  await sql`delete from tasks where ${matches(sql, name)}`;
};
