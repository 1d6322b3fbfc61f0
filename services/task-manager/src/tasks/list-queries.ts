import type { ISql } from 'postgres';
import { searchText } from '../db/tables.ts';
import type { SessionName } from '../sessions/refresh-token.ts';
import { liveSession } from '../sessions/settings.ts';
import { tasks } from './queries.ts';
import type { Filters, Sort } from './schema.ts';

/** A list of a user's tasks: who reads it, which ones, in which order. */
export interface Listing {
  session: SessionName;
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
const wordsOf = (query: string): string =>
  `(select plainto_tsquery('simple', ${searchText('query')}) from (values (${query})) as given (query))`;

/** SQL of what the filters ask of a task. `parameter` takes a value and returns its place in the statement. */
const conditionsOf = (
  { status, priority, tag, dueBefore, dueAfter, q }: Filters,
  parameter: (value: string) => string,
): string[] => [
  ...(status === undefined ? [] : [`status = ${parameter(status)}`]),
  ...(priority === undefined ? [] : [`priority = ${parameter(priority)}`]),
  ...(tag === undefined ? [] : [`${parameter(tag)} = any (tags)`]),
  ...(dueBefore === undefined ? [] : [`due_date < ${parameter(dueBefore)}`]),
  ...(dueAfter === undefined ? [] : [`due_date > ${parameter(dueAfter)}`]),
  ...(q === undefined ? [] : [`words @@ ${wordsOf(parameter(q))}`]),
];

/**
 * `limit` tasks after the first `offset`, as JSON text; undefined when the session has ended. One statement does both,
 * because a second one costs a third of a request (ADR 107).
 *
 * The tasks before a page are skipped in the index of the order, without reading them; `ids` has the columns of that
 * index in its order, so that PostgreSQL copies no index entry (ADR 18). The first page has nothing to skip.
 */
export const readPage = async (
  sql: ISql,
  { session, filters, sort }: Listing,
  { offset, limit }: { offset: bigint; limit: number },
): Promise<string[] | undefined> => {
  const values: (string | number)[] = [];
  const parameter = (value: string | number) => `$${values.push(value)}`;
  const user = parameter(session.userId);
  const { column, order } = orders[sort];
  const conditions = [`user_id = ${user}`, ...conditionsOf(filters, parameter)];
  const matching = `from tasks where ${conditions.join(' and ')} order by ${order}`;
  const page =
    offset === 0n
      ? `select ${tasks.json} ${matching} limit ${parameter(limit)}`
      : `with ids (owner, sorted_by, task) as materialized (
           select user_id, ${column}, id ${matching} offset ${parameter(String(offset))} limit ${parameter(limit)})
         select ${tasks.json} from ids join tasks on user_id = owner and id = task order by ${order}`;
  const rows = await sql.unsafe<{ json: string | null }[]>(
    `select json from (select from ${liveSession(user, parameter(session.id))}) session
     left join (${page}) page on true`,
    values,
    { prepare: true },
  );
  return rows.length === 0 ? undefined : rows.flatMap(({ json }) => json ?? []);
};
