import { deferredPage } from '@platform/pagination/deferred';
import type { Sql } from 'postgres';
import { searchText } from '../db/tables.ts';
import type { Filters, Sort, Task } from './schema.ts';

/** A list of a user's tasks: which ones, in which order. */
export interface Listing {
  userId: string;
  filters: Filters;
  sort: Sort;
}

/** Total orders; the indexes in db/tables.ts match these exactly. */
const orders: Record<Sort, string> = {
  createdAt: 'created_at, id',
  '-createdAt': 'created_at desc, id',
  updatedAt: 'updated_at, id',
  '-updatedAt': 'updated_at desc, id',
  dueDate: 'due_date nulls last, id',
  '-dueDate': 'due_date desc nulls last, id',
  priority: 'priority, id',
  '-priority': 'priority desc, id',
  title: 'title collate "und-x-icu", id',
  '-title': 'title collate "und-x-icu" desc, id',
};

const columns = [
  'id',
  'title',
  'description',
  'status',
  'priority',
  'due_date',
  'tags',
  'completed_at',
  'created_at',
  'updated_at',
  'version',
];

interface TaskRow extends Pick<
  Task,
  'id' | 'title' | 'description' | 'status' | 'priority' | 'tags' | 'version'
> {
  due_date: string | null;
  completed_at: string | null;
  created_at: string;
  updated_at: string;
}

const isoTime = (text: string): string => new Date(text).toISOString();

const taskOf = (row: TaskRow): Task => ({
  id: row.id,
  title: row.title,
  description: row.description,
  status: row.status,
  priority: row.priority,
  dueDate: row.due_date,
  tags: row.tags,
  completedAt: row.completed_at === null ? null : isoTime(row.completed_at),
  createdAt: isoTime(row.created_at),
  updatedAt: isoTime(row.updated_at),
  version: row.version,
});

/** The query text is parsed in a subquery; otherwise a prepared plan would parse it for each row. */
const whereOf = (sql: Sql, { userId, filters }: Listing) => {
  const { status, priority, tag, dueBefore, dueAfter, q } = filters;
  return sql`user_id = ${userId}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${priority === undefined ? sql`` : sql`and priority = ${priority}`}
    ${tag === undefined ? sql`` : sql`and ${tag} = any (tags)`}
    ${dueBefore === undefined ? sql`` : sql`and due_date < ${dueBefore}`}
    ${dueAfter === undefined ? sql`` : sql`and due_date > ${dueAfter}`}
    ${q === undefined ? sql`` : sql`and words @@ (select plainto_tsquery('simple', ${sql.unsafe(searchText('query'))}) from (values (${q})) as given (query))`}`;
};

const orderOf = (sql: Sql, { sort }: Listing) => sql`${sql.unsafe(orders[sort])}`;

/** `limit` tasks after the first `offset`, which are skipped in an index. */
export const readPage = async (
  sql: Sql,
  listing: Listing,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<Task[]> => {
  const where = whereOf(sql, listing);
  const order = orderOf(sql, listing);
  const page = { table: 'tasks', key: ['user_id', 'id'], columns, where, order, offset, limit };
  return (await deferredPage<TaskRow>(sql, page)).map(taskOf);
};

/** The ids of a list in order, 16 bytes each, at one revision of the user's tasks. */
export interface Order {
  revision: string;
  ids: Buffer;
}

const revisionOf = (sql: Sql, userId: string) =>
  sql`coalesce((select revision from task_lists where user_id = ${userId}), 0)::text as revision`;

/** The first `limit` ids of a list. */
export const readOrder = async (sql: Sql, listing: Listing, limit: number): Promise<Order> => {
  const [row] = await sql<[{ revision: string; ids: Buffer | null }]>`
    select ${revisionOf(sql, listing.userId)}, (
      select string_agg(uuid_send(id), ''::bytea) from (
        select id from tasks where ${whereOf(sql, listing)}
        order by ${orderOf(sql, listing)} limit ${limit}) as ordered) as ids`;
  return { revision: row.revision, ids: row.ids ?? Buffer.alloc(0) };
};

/** Tasks by id, in the order of the ids, and the revision at which they were read. */
export const readTasks = async (
  sql: Sql,
  userId: string,
  ids: readonly string[],
): Promise<{ revision: string; tasks: Task[] }> => {
  type Row = { revision: string } & (TaskRow | { id: null });
  const rows = await sql<[Row, ...Row[]]>`
    select ${revisionOf(sql, userId)}, ${sql(columns)} from (select) as one left join (
      select wanted.at, tasks.* from unnest(${ids}::uuid[]) with ordinality as wanted (id, at)
      join tasks using (id) where user_id = ${userId}) as found on true
    order by at`;
  const tasks = rows.flatMap((row) => (row.id === null ? [] : [taskOf(row)]));
  return { revision: rows[0].revision, tasks };
};
