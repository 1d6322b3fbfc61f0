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

/** A page as the row `item`, joined to where it begins: the row `place`, which also has the total if it is wanted. */
const pageFrom = (
  sql: Sql,
  directory: Directory,
  { filter, since, offset, limit }: PageRequest,
  totalled: boolean,
): { place: Fragment; rows: Fragment; total: Fragment } => {
  const { routine } = namesOf(directory);
  const call = (part: string) => sql(routine(`${part}_${filterName(filter?.column)}`));
  const value = filter?.value ?? null;
  const rowsOf = (fit: Fragment) => sql`${call('rows')}(${value}, place.near_at, place.near_id, ${fit}) item`;
  const skip = sql`${String(offset)}::bigint`;
  if (since === undefined) {
    return {
      place: sql`${call('place')}(${value}, ${skip}, ${totalled}) place`,
      rows: rowsOf(sql`${limit}`),
      total: sql`place.total`,
    };
  }
  const older = sql`${call('older')}(${value}, ${since}) older (n)`;
  const total = sql`place.total - older.n`;
  return directory.newestFirst
    ? {
        // What is left out follows the page: it ends where that begins.
        place: sql`${older} cross join lateral ${call('place')}(${value}, ${skip}, true) place`,
        rows: rowsOf(sql`greatest(least(${limit}::bigint, ${total} - ${skip}), 0)`),
        total,
      }
    : {
        place: sql`${older} cross join lateral ${call('place')}(${value}, older.n + ${skip}, ${totalled}) place`,
        rows: rowsOf(sql`${limit}`),
        total,
      };
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
  const { columns = sql`item.*`, offset, limit } = request;
  const page = pageFrom(sql, directory, request, true);
  // The rows come in their order, and nothing here disturbs it. The total is told even if there are none.
  const found = await sql<(T & { directory_total: string })[]>`
    select ${columns}, ${page.total} as directory_total from ${page.place} left join lateral ${page.rows} on true`;
  const total = BigInt(found[0]?.directory_total ?? 0);
  const items: T[] = [];
  if (offset < total) {
    for (const { directory_total: _total, ...row } of found) items.push(row as unknown as T);
  }
  return { items, total: Number(total), hasMore: offset + BigInt(limit) < total };
};

/** One page and whether more follow. Near the start of the list the index alone is quicker. */
export const readSlice = async <T extends object>(
  sql: Sql,
  directory: Directory,
  request: PageRequest,
): Promise<Slice<T>> => {
  const { columns = sql`item.*`, filter, since, offset, limit } = request;
  if (offset + BigInt(limit) > directory.bucket) {
    const page = pageFrom(sql, directory, { ...request, limit: limit + 1 }, false);
    return slice(await sql<T[]>`select ${columns} from ${page.place} cross join lateral ${page.rows}`, limit);
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
