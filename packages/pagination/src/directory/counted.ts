import type { Sql } from 'postgres';
import type { Directory } from './declare.ts';
import { holds, type FilterValue, type Fragment, type TotalledPage } from './read.ts';
import { filterName, namesOf } from './sql/names.ts';

/** Where counts are kept; may forget at any time, and answers undefined when it is away. */
export interface CountCache {
  get(key: string): Promise<string | null | undefined>;
  set(key: string, value: string): Promise<unknown>;
}

export interface CountedRequest {
  /** What is selected, of the row `item`; all columns unless given. */
  columns?: Fragment;
  /** Filter columns of the directory and their values. */
  filters: Readonly<Record<string, FilterValue>>;
  /** A further condition on `item`, on filter columns and watched ones only, and a name for it among all others. */
  condition?: { name: string; sql: Fragment };
  offset: bigint;
  limit: number;
}

interface Counted {
  counted_total: string;
  counted_stamp: string | null;
  counted_id: string | null;
}

/** Total and the stamp it was counted at. */
const parse = (kept: string | null | undefined): { stamp: string | null; total: string } => {
  const [stamp, total] = (kept ?? '').split(':');
  // Whatever else stands there, it must not make the statement fail.
  return stamp && /^\d{1,15}$/.test(total ?? '')
    ? { stamp, total: total ?? '' }
    : { stamp: null, total: '0' };
};

/**
 * One page and the exact total where no directory fits. The rows are passed over in an index; the total
 * is counted once and kept under the stamp of the most selective filter. It is believed only when that
 * stamp still holds in the snapshot of the page, so that a stale, lost or absent cache costs a count
 * and never gives a wrong total.
 */
export const readCounted = async <T extends object>(
  sql: Sql,
  cache: CountCache,
  directory: Directory,
  { columns = sql`item.*`, filters, condition, offset, limit }: CountedRequest,
): Promise<TotalledPage<T>> => {
  const { list, routine } = namesOf(directory);
  const given = Object.entries(filters);
  const narrowest = directory.filters.find(({ column }) => column in filters)?.column;
  const stamp = routine(`stamp_${filterName(narrowest)}`);
  const key = `count:${directory.table}:${JSON.stringify([given.toSorted(([a], [b]) => (a < b ? -1 : 1)), condition?.name ?? ''])}`;
  const kept = parse(await cache.get(key));

  const [at, id] = [sql(directory.at), sql(directory.id)];
  const [up, down] = [sql`item.${at}, item.${id}`, sql`item.${at} desc, item.${id} desc`];
  const [order, reverse] = directory.newestFirst ? [down, up] : [up, down];
  const conditions = given.map(([column, value]) => holds(sql, directory, column, value));
  const where = [...conditions, ...(condition ? [condition.sql] : [])].reduce(
    (all, one) => sql`${all} and ${one}`,
    sql`true`,
  );
  const skip = String(offset);
  const rows = await sql<(T & Counted)[]>`
    with stamped as materialized (
      select ${sql(stamp)}(${narrowest === undefined ? null : (filters[narrowest] ?? null)}) as stamp
    ), counted as materialized (
      select stamp, case when stamp::text = ${kept.stamp} then ${kept.total}::bigint
        else (select count(*) from ${sql(list)} item where ${where}) end as total
      from stamped
    ), page as materialized (
      -- The half of the list that the page lies in decides from which end it is reached. The limit around both
      -- is one that the planner can read: otherwise it prepares to join a tenth of the list.
      select id from (
      (select item.${id} as id from ${sql(list)} item where ${where} order by ${order} offset ${skip}::bigint
       limit (select case when ${skip}::bigint < total / 2 then ${limit}::bigint else 0 end from counted))
      union all
      (select item.${id} from ${sql(list)} item where ${where} order by ${reverse}
       offset (select greatest(total - ${skip}::bigint - ${limit}::bigint, 0) from counted)
       limit (select case when ${skip}::bigint < total / 2 then 0
         else greatest(least(total - ${skip}::bigint, ${limit}::bigint), 0) end from counted))
      ) either limit ${limit}::bigint
    )
    select ${columns}, counted.total as counted_total, counted.stamp as counted_stamp, page.id as counted_id
    from counted left join page on true left join ${sql(list)} item on item.${id} = page.id
    order by ${order}`;
  const [first] = rows;
  if (first?.counted_stamp != null && first.counted_stamp !== kept.stamp) {
    await cache.set(key, `${first.counted_stamp}:${first.counted_total}`);
  }
  const total = Number(first?.counted_total);
  const items: T[] = [];
  for (const { counted_total: _total, counted_stamp: _stamp, counted_id, ...row } of rows) {
    if (counted_id !== null) items.push(row as unknown as T);
  }
  return { items, total, hasMore: offset + BigInt(limit) < BigInt(total) };
};
