import type { PendingQuery, Row, Sql } from 'postgres';
import { slice, type Slice } from '../slice.ts';
import type { Directory } from './declare.ts';
import { filterName, namesOf } from './sql/names.ts';

/** A piece of SQL made with sql`…`. */
export type Fragment = PendingQuery<Row[]>;

export type FilterValue = string | number | boolean;

export interface PageRequest {
  /** What is selected, of the row `item`; all columns unless given. */
  columns?: Fragment;
  /** One filter column of the directory and its value. */
  filter?: { column: string; value: FilterValue };
  /** ISO 8601; leaves out the rows before this time. */
  since?: string;
  /** Rows to leave out before the first one given. */
  offset: bigint;
  limit: number;
}

export interface TotalledPage<T> extends Slice<T> {
  /** All rows that match, in the snapshot of the items. */
  total: number;
}

/** What the page query adds to each row. */
interface Found {
  directory_total: string | null;
  directory_found: boolean;
}

/** `item.status = …`, for one of the columns that the directory was declared with. */
export const holds = (
  sql: Sql,
  { filters, table }: Directory,
  column: string,
  value: FilterValue,
): Fragment => {
  if (!filters.some((filter) => filter.column === column))
    throw new Error(`${table} has no filter ${column}`);
  return sql`item.${sql(column)} = ${value}`;
};

const readRows = async (
  sql: Sql,
  directory: Directory,
  { columns = sql`item.*`, filter, since, offset, limit }: PageRequest,
  totalled: boolean,
): Promise<{ items: Row[]; total: number }> => {
  const page = namesOf(directory).routine(`page_${filterName(filter?.column)}`);
  // The function gives the rows in their order, and nothing here disturbs it.
  const rows = await sql<(Row & Found)[]>`
    select ${columns}, total as directory_total, item.${sql(directory.id)} is not null as directory_found
    from ${sql(page)}(${filter?.value ?? null}, ${since ?? null}, ${String(offset)}, ${limit}, ${totalled}) page
    cross join lateral (select (page.given).*) item`;
  const items: Row[] = [];
  for (const { directory_total: _total, directory_found, ...row } of rows) {
    if (directory_found) items.push(row);
  }
  return { items, total: Number(rows[0]?.directory_total) };
};

/**
 * One page and the exact total, in one snapshot, at a cost that does not depend on the offset: what plain
 * OFFSET, LIMIT and count(*) would give.
 */
export const readPage = async <T extends object>(
  sql: Sql,
  directory: Directory,
  request: PageRequest,
): Promise<TotalledPage<T>> => {
  const { items, total } = await readRows(sql, directory, request, true);
  return { items: items as T[], total, hasMore: request.offset + BigInt(request.limit) < BigInt(total) };
};

/** One page and whether more follow. Near the start of the list the index alone is quicker. */
export const readSlice = async <T extends object>(
  sql: Sql,
  directory: Directory,
  request: PageRequest,
): Promise<Slice<T>> => {
  const { columns = sql`item.*`, filter, since, offset, limit } = request;
  if (offset + BigInt(limit) > directory.bucket) {
    const { items } = await readRows(sql, directory, { ...request, limit: limit + 1 }, false);
    return slice(items as T[], limit);
  }
  const { list } = namesOf(directory);
  const [at, id] = [sql(directory.at), sql(directory.id)];
  const rows = await sql<T[]>`
    select ${columns} from ${sql(list)} item
    where ${filter ? holds(sql, directory, filter.column, filter.value) : sql`true`}
      ${since === undefined ? sql`` : sql`and item.${at} >= ${since}`}
    order by ${directory.newestFirst ? sql`item.${at} desc, item.${id} desc` : sql`item.${at}, item.${id}`}
    offset ${String(offset)} limit ${limit + 1}`;
  return slice(rows, limit);
};
