import type { Window } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import { searchText } from '../db/tables.ts';
import type { SessionName } from '../sessions/refresh-token.ts';
import { liveSession } from '../sessions/settings.ts';
import { tasks } from './queries.ts';
import type { Filters, Sort } from './schema.ts';

/** A list of tasks: who reads it, which ones, in which order. */
export interface Listing {
  session: SessionName;
  /** The list that they are in; undefined for the user's own. */
  listId: string | undefined;
  filters: Filters;
  sort: Sort;
}

/** Total orders; the indexes in db/tables.ts match these exactly. */
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
 * Each word as the beginning of one. The query text is parsed in a subquery; otherwise a prepared plan would parse it for
 * each row. Without a word it is null, which matches nothing.
 */
const wordsOf = (query: string): string =>
  `(select string_agg(quote_literal(lexeme) || ':*', ' & ')::tsquery
    from (values (${query})) as given (query), unnest(to_tsvector('simple', ${searchText('query')})))`;

/** A time counts by its day in the time zone, and a day by itself. */
const dueIn = (due: Filters['due'], zone: string): string => {
  const today = `(now() at time zone ${zone})::date`;
  const day = `coalesce((due_at at time zone ${zone})::date, due_date)`;
  if (due === 'overdue') return `status <> 'done' and coalesce(due_at < now(), due_date < ${today})`;
  return `${day} between ${today} and ${today} + ${due === 'today' ? 0 : 6}`;
};

/** SQL of what the filters ask of a task. `parameter` takes a value and returns its place in the statement. */
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
  ...(due === undefined ? [] : [dueIn(due, parameter(tz))]),
  ...(q === undefined ? [] : [`words @@ ${wordsOf(parameter(q))}`]),
];

/** Between two tasks of a page; no JSON text has a line end in it. */
const separator = ',\n';

/**
 * The tasks of a page as JSON text, separated by commas, and whether more follow; undefined when the session has ended, or
 * the user is no member of the list. One statement does both, because a second one costs a third of a request (ADR 107).
 * Its result is one row: the driver needs longer for each row than PostgreSQL to join them (ADR 188).
 *
 * The tasks before a page are skipped in the index of the order, without reading them; `ids` has the columns of that
 * index in its order, so that PostgreSQL copies no index entry (ADR 18). The first page has nothing to skip.
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
  const sorted = column.split(', ').map((_, n) => `sorted_${n}`);
  const conditions = [`owner_id = ${owner}`, ...conditionsOf(filters, parameter)];
  const matching = `from tasks where ${conditions.join(' and ')} order by ${order}`;
  const page =
    offset === 0n
      ? `select ${tasks.json} ${matching} limit ${parameter(limit + 1)}`
      : `with ids (owner, ${sorted.join(', ')}, task) as materialized (
           select owner_id, ${column}, id ${matching} offset ${parameter(String(offset))} limit ${parameter(limit + 1)})
         select ${tasks.json} from ids join tasks on owner_id = owner and id = task order by ${order}`;
  const [joined] = await sql.unsafe<{ json: string; count: number }[]>(
    `select joined.* from (select from ${liveSession(user, parameter(session.id))}
       and ${listId === undefined ? 'true' : isMember}) session,
       lateral (select coalesce(string_agg(json, '${separator}'), '') as json, count(*)::int as count
         from (${page}) page) joined`,
    values,
    { prepare: true },
  );
  if (joined === undefined) return undefined;
  const { json, count } = joined;
  const hasMore = count > limit;
  return { json: hasMore ? json.slice(0, json.lastIndexOf(separator)) : json, hasMore };
};
