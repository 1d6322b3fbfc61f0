import type { Window } from '@platform/pagination/list';
import { ValidationFailed } from '@platform/service-kit/problem';
import type { ISql } from 'postgres';
import { searchText } from '../db/tables.ts';
import type { SessionIds } from '../sessions/refresh-token.ts';
import { liveSession } from '../sessions/settings.ts';
import { tasks } from './queries.ts';
import type { Filters, Sort } from './schema.ts';

/** A request for a list of tasks: reader, filters and order. */
export interface Listing {
  session: SessionIds;
  /** The shared list; undefined for the user's own tasks. */
  listId: string | undefined;
  filters: Filters;
  sort: Sort;
}

/** Sort orders. Each ends with the id to be total, and matches an index in db/tasks.ts exactly. */
const orders: Record<Sort, { column: string; order: string }> = {
  createdAt: { column: 'created_at', order: 'created_at, id' },
  '-createdAt': { column: 'created_at', order: 'created_at desc, id' },
  updatedAt: { column: 'updated_at', order: 'updated_at, id' },
  '-updatedAt': { column: 'updated_at', order: 'updated_at desc, id' },
  dueDate: { column: 'due_date, due_at', order: 'due_date nulls last, due_at nulls last, id' },
  '-dueDate': { column: 'due_date, due_at', order: 'due_date desc nulls last, due_at desc nulls last, id' },
  priority: { column: 'priority', order: 'priority, id' },
  '-priority': { column: 'priority', order: 'priority desc, id' },
  title: { column: 'title', order: 'title collate "und-x-icu", id' },
  '-title': { column: 'title', order: 'title collate "und-x-icu" desc, id' },
};

/**
 * SQL of a tsquery that matches each word of the query as a prefix. The subquery makes PostgreSQL parse the text once instead of
 * for each row. A query without words is null, which matches nothing.
 */
const prefixQuery = (query: string): string =>
  `(select string_agg(quote_literal(lexeme) || ':*', ' & ')::tsquery
    from (values (${query})) as input (query), unnest(to_tsvector('simple', ${searchText('query')})))`;

/** SQL of the filter `due`. A task with a due time counts for the day of this time in the time zone, others for their due date. */
const dueCondition = (due: Filters['due'], zone: string): string => {
  const today = `(now() at time zone ${zone})::date`;
  const day = `coalesce((due_at at time zone ${zone})::date, due_date)`;
  if (due === 'overdue') return `status <> 'done' and coalesce(due_at < now(), due_date < ${today})`;
  return `${day} between ${today} and ${today} + ${due === 'today' ? 0 : 6}`;
};

/** SQL conditions of the filters. `parameter` adds a value to the statement and returns its placeholder. */
const conditionsOf = (
  { status, priority, tag, dueBefore, dueAfter, assignee, due, tz = 'UTC', q }: Filters,
  parameter: (value: string) => string,
): string[] => [
  ...(status === undefined ? [] : [`status = any (${parameter(`{${status.join(',')}}`)}::task_status[])`]),
  ...(priority === undefined ? [] : [`priority = ${parameter(priority)}`]),
  ...(tag === undefined ? [] : [`${parameter(tag)} = any (tags)`]),
  ...(dueBefore === undefined ? [] : [`due_date < ${parameter(dueBefore)}`]),
  ...(dueAfter === undefined ? [] : [`due_date > ${parameter(dueAfter)}`]),
  ...(assignee === undefined ? [] : [`assignee_id = ${parameter(assignee)}`]),
  ...(due === undefined ? [] : [dueCondition(due, parameter(tz))]),
  ...(q === undefined ? [] : [`words @@ ${prefixQuery(parameter(q))}`]),
];

/** Separates two tasks of a page. Contains a line feed, which does not occur inside the JSON of a task. */
const separator = ',\n';

/** Maximum bytes of a page, and a number of tasks that always fits and is not measured: a task has at most 66 kB. */
const [maxPageBytes, alwaysFits] = [3.5 * 2 ** 20, 50];

/**
 * Reads the tasks of a page as JSON text, separated by commas, and whether more follow. Undefined when the session has ended or
 * the user is not a member of the list. Throws ValidationFailed for a page that would delay other requests (ADR 102). One
 * statement checks both and reads the page, because a second statement costs a third of a request (ADR 107). Its result is one
 * row: joining rows in PostgreSQL is faster than reading them with the driver (ADR 188).
 *
 * An index-only scan skips the tasks before the page; `ids` has the columns of the index in the same order, so that PostgreSQL
 * does not copy index entries (ADR 18). The first page has nothing to skip.
 */
export const readPage = async (
  sql: ISql,
  { session, listId, filters, sort }: Listing,
  { offset, limit }: Window,
): Promise<{ json: string; hasMore: boolean } | undefined> => {
  const values: (string | number)[] = [];
  const parameter = (value: string | number) => `$${values.push(value)}`;
  const user = parameter(session.userId);
  const owner = listId === undefined ? user : parameter(listId);
  const isMember = `exists (select from list_members where list_id = ${owner} and user_id = ${user})`;
  const { column, order } = orders[sort];
  const sortColumns = column.split(', ').map((_, n) => `sorted_${n}`);
  const conditions = [`owner_id = ${owner}`, ...conditionsOf(filters, parameter)];
  const matching = `from tasks where ${conditions.join(' and ')} order by ${order}`;
  const page =
    offset === 0n
      ? `select ${tasks.json} ${matching} limit ${parameter(limit + 1)}`
      : `with ids (owner, ${sortColumns.join(', ')}, task) as materialized (
           select owner_id, ${column}, id ${matching} offset ${parameter(String(offset))} limit ${parameter(limit + 1)})
         select ${tasks.json} from ids join tasks on owner_id = owner and id = task order by ${order}`;
  const joined = `select coalesce(string_agg(json, '${separator}'), '') as json, count(*)::int as count from (${page}) page`;
  const joinedIfFits = `
    with page as materialized (${page}), size as (select coalesce(sum(octet_length(json)), 0) as bytes, count(*)::int as count from page)
    select count, case when bytes <= ${maxPageBytes} then (
      select coalesce(string_agg(json, '${separator}'), '') from page) end as json from size`;
  const [result] = await sql.unsafe<{ json: string | null; count: number }[]>(
    `select joined.* from (select from ${liveSession(user, parameter(session.id))}
       and ${listId === undefined ? 'true' : isMember}) session,
       lateral (${limit <= alwaysFits ? joined : joinedIfFits}) joined`,
    values,
    { prepare: true },
  );
  if (result === undefined) return undefined;
  const { json, count } = result;
  if (json === null)
    throw new ValidationFailed({
      limit: [`must be lower: these tasks have more than ${maxPageBytes} bytes`],
    });
  const hasMore = count > limit;
  return { json: hasMore ? json.slice(0, json.lastIndexOf(separator)) : json, hasMore };
};
