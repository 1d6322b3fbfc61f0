import type { Sql } from 'postgres';
import { searchText } from '../db/tables.ts';
import { taskJson } from './queries.ts';
import type { Filters, Sort } from './schema.ts';

/** A list of a user's tasks: which ones, in which order. */
export interface Listing {
  userId: string;
  filters: Filters;
  sort: Sort;
}

/** Total orders; the indexes in db/tables.ts match these exactly. */
const orders: Record<Sort, { column: string; order: string }> = {
  createdAt: { column: 'created_at', order: 'created_at, id' },
  '-createdAt': { column: 'created_at', order: 'created_at desc, id' },
  updatedAt: { column: 'updated_at', order: 'updated_at, id' },
  '-updatedAt': { column: 'updated_at', order: 'updated_at desc, id' },
  dueDate: { column: 'due_date', order: 'due_date nulls last, id' },
  '-dueDate': { column: 'due_date', order: 'due_date desc nulls last, id' },
  priority: { column: 'priority', order: 'priority, id' },
  '-priority': { column: 'priority', order: 'priority desc, id' },
  title: { column: 'title', order: 'title collate "und-x-icu", id' },
  '-title': { column: 'title', order: 'title collate "und-x-icu" desc, id' },
};

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

/**
 * `limit` tasks after the first `offset`, as JSON text. The tasks before the page are skipped in the index of the
 * order, without reading them; `page` has the columns of that index in its order, so that PostgreSQL
 * copies no index entry (ADR 18).
 */
export const readPage = async (
  sql: Sql,
  listing: Listing,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<string[]> => {
  const { column, order } = orders[listing.sort];
  const rows = await sql<{ json: string }[]>`
    with page (owner, sorted_by, task) as materialized (
      select user_id, ${sql(column)}, id from tasks where ${whereOf(sql, listing)}
      order by ${sql.unsafe(order)} offset ${String(offset)} limit ${limit})
    select ${sql.unsafe(taskJson)} from page join tasks on user_id = owner and id = task
    order by ${sql.unsafe(order)}`;
  return rows.map(({ json }) => json);
};
