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
  directory_total: string;
  directory_place: number | null;
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

/**
 * One page and the exact total, in one snapshot, at a cost that does not depend on the offset: what plain
 * OFFSET, LIMIT and count(*) would give.
 */
export const readPage = async <T extends object>(
  sql: Sql,
  directory: Directory,
  { columns = sql`item.*`, filter, since, offset, limit }: PageRequest,
): Promise<TotalledPage<T>> => {
  const { list, routine } = namesOf(directory);
  const page = routine(`page_${filterName(filter?.column)}`);
  const rows = await sql<(T & Found)[]>`
    select ${columns}, page.total as directory_total, place::int as directory_place
    from ${sql(page)}(${filter?.value ?? null}, ${since ?? null}, ${String(offset)}, ${limit}) page
    left join lateral unnest(page.ids) with ordinality found (id, place) on true
    left join ${sql(list)} item on item.${sql(directory.id)} = found.id
    order by place`;
  const total = Number(rows[0]?.directory_total);
  const items: T[] = [];
  for (const { directory_total: _total, directory_place, ...row } of rows) {
    if (directory_place !== null) items.push(row as unknown as T);
  }
  return { items, total, hasMore: offset + BigInt(limit) < BigInt(total) };
};

/** One page and whether more follow. Near the start of the list the index alone is quicker. */
export const readSlice = async <T extends object>(
  sql: Sql,
  directory: Directory,
  request: PageRequest,
): Promise<Slice<T>> => {
  const { columns = sql`item.*`, filter, since, offset, limit } = request;
  if (offset + BigInt(limit) > directory.bucket) return readPage<T>(sql, directory, request);
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
