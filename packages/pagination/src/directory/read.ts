import type { Sql } from 'postgres';
import { slice, type Slice } from '../list.ts';
import { filterOf, keyOf, pendingChanges, unfiltered, type Directory } from './directory.ts';

export type FilterValue = string | number | boolean;

export interface PageRequest {
  /** SQL of the select list for the row `item`; all columns if absent. Must not contain input of a client. */
  columns?: string;
  /** A filter column of the directory and its value. */
  filter?: { column: string; value: FilterValue };
  /** Leaves out rows whose first key column is lower. */
  since?: string;
  /** Number of rows before the page. */
  offset: bigint;
  limit: number;
}

export interface TotalledPage<T> extends Slice<T> {
  /** Number of matching rows, in the same snapshot as the items. */
  total: number;
}

/**
 * Settings of connections that read pages. Each statement has one plan, which never scans the list, although the
 * statistics of the small tables change all the time. Without these settings the results are the same, but slower.
 */
export const pageSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/** A connection string with `pageSettings`, as postgres.js reads it. */
export const withPageSettings = (databaseUrl: string): string => {
  const url = new URL(databaseUrl);
  for (const [name, value] of Object.entries(pageSettings)) url.searchParams.set(name, value);
  return url.href;
};

/**
 * The statement of a page and its total. $1 offset, $2 limit, then the filter value and `since` if used.
 *
 * `bounds` adds up the buckets in the order of the list until the wanted row must be in the current one;
 * `place` corrects the rank of its key by the pending changes; `start` walks the index from there, over at
 * most one bucket and the pending changes, or from the lowest end of the list if no bucket is near. The first CTE
 * mentions the list so that it is locked first, as writers do.
 */
const pageStatement = (directory: Directory, columns: string, column?: string, since = false): string => {
  const { table, buckets, key, descending } = directory;
  const filter = column === undefined ? unfiltered : filterOf(directory, column);
  const value = column === undefined ? `''` : `$3::${filter.type}::text`;
  const filterCondition = column === undefined ? '' : ` and ${column} = $3::${filter.type}`;
  const from = `$${column === undefined ? 3 : 4}`;
  const k = key.join(', ');
  const down = key.map((name) => `${name} desc`).join(', ');
  const at = (row: string) => `(${key.map((name) => `(select ${name} from ${row})`).join(', ')})`;
  const bucketsOfFilter = `${buckets} where filter = '${filter.name}' and value = ${value}`;
  const older = `(select n from older)`;
  const skip = descending ? '$1::bigint' : `($1::bigint + ${older})`;
  // Bound of the number of rows that pending changes add before a key. Most pending changes concern the newest rows, which
  // come before nearly every key in descending order.
  const pendingBefore = descending
    ? `case when ${key[0]} < (select ${key[0]} from pending order by ${key[0]} limit 1)
      then (select n from log) else -(select removed from log) end`
    : '(select added from log)';
  return `
with item as not materialized (select * from ${table} where true${filterCondition}
), pending as materialized (${pendingChanges(directory, `${k}, sign`, filterCondition)}
), log as materialized (
  select coalesce(sum(sign), 0) as n, count(*) filter (where sign > 0) as added,
    count(*) filter (where sign < 0) as removed from pending
), ${
    since
      ? `near as materialized (select ${k} from ${bucketsOfFilter} and ${key[0]} < ${from} order by ${down} limit 1
), older as materialized (
  select (select coalesce(sum(n), 0) from ${bucketsOfFilter} and (${k}) < ${at('near')})
    + (select coalesce(sum(sign), 0) from pending where (${k}) < ${at('near')})
    + (select count(*) from item where (${k}) >= ${at('near')} and ${key[0]} < ${from})
    + (select count(*) from item where not exists (select from near) and ${key[0]} < ${from}) as n
)`
      : `older as materialized (select 0::bigint as n)`
  }, totals as materialized (select (select coalesce(sum(n), 0) from ${bucketsOfFilter}) + n as n from log
), bounds as (
  select ${k}, n, sum(n) over (order by ${descending ? down : k} rows unbounded preceding) as upto from ${bucketsOfFilter}
), place as materialized (
  select ${k}, upto${descending ? '' : ' - n'} + (
    select coalesce(sum(sign), 0) from pending
    where (${keyOf(directory, 'pending')}) ${descending ? '>=' : '<'} (${keyOf(directory, 'bounds')})) as rank
  from bounds where upto + ${pendingBefore} > ${skip}
  order by ${descending ? down : k} limit 1
), start as materialized (
  (select ${k} from item where (${k}) >= ${at('place')} order by ${k}
    offset ${descending ? `(select rank from place) - ${skip} - 1` : `greatest(${skip} - (select rank from place), 0)`}
    limit (select case when ${descending ? 'true' : `rank <= ${skip}`} then 1 else 0 end from place))
  union all
  (select ${k} from item order by ${k}
    offset greatest(${descending ? `(select n from totals) - ${skip} - 1` : skip}, 0)
    limit (select case when ${skip} < n and not exists (select from place${descending ? '' : ` where rank <= ${skip}`})
      then 1 else 0 end from totals))
)
select ${columns}, totals.n - ${older} as directory_total
from totals left join lateral (
  select * from item where (${k}) ${descending ? '<=' : '>='} ${at('start')}${since ? ` and ${key[0]} >= ${from}` : ''}
  order by ${descending ? down : k} limit $2) item on true`;
};

const parametersOf = ({ filter, since, offset, limit }: PageRequest): (FilterValue | string)[] => [
  String(offset),
  limit,
  ...(filter ? [filter.value] : []),
  ...(since === undefined ? [] : [since]),
];

type Row<T> = T & { directory_total: string };

/**
 * One page and the exact total, in one snapshot: what OFFSET, LIMIT and count(*) return, at a cost that does
 * not depend on the offset.
 */
export const readPage = async <T extends object>(
  sql: Sql,
  directory: Directory,
  request: PageRequest,
): Promise<TotalledPage<T>> => {
  const { columns = 'item.*', filter, since, offset, limit } = request;
  const text = pageStatement(directory, columns, filter?.column, since !== undefined);
  const rows = await sql.unsafe<Row<T>[]>(text, parametersOf(request), { prepare: true });
  const total = Number(rows[0]?.directory_total ?? 0);
  const items: T[] = [];
  if (offset < total) {
    for (const { directory_total: _total, ...row } of rows) items.push(row as unknown as T);
  }
  return { items, total, hasMore: offset + BigInt(limit) < total };
};

/** Reads a page like `readPage`, without the total. The first pages are read from the index of the list alone. */
export const readSlice = async <T extends object>(
  sql: Sql,
  directory: Directory,
  request: PageRequest,
): Promise<Slice<T>> => {
  const { columns = 'item.*', filter, since, offset, limit } = request;
  if (offset + BigInt(limit) > directory.bucket) return readPage<T>(sql, directory, request);
  const { table, key, descending } = directory;
  const conditions = [
    ...(filter ? [`${filterOf(directory, filter.column).column} = $3`] : []),
    ...(since === undefined ? [] : [`${key[0]} >= $${filter ? 4 : 3}`]),
  ];
  const text = `select ${columns} from ${table} item
    ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
    order by ${key.map((column) => `${column}${descending ? ' desc' : ''}`).join(', ')} offset $1 limit $2`;
  const rows = await sql.unsafe<T[]>(text, parametersOf({ ...request, limit: limit + 1 }), { prepare: true });
  return slice(rows, limit);
};
