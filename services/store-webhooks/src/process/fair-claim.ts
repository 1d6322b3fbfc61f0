import type { Sql } from 'postgres';
import { plainArrayOf } from '../db/sql.ts';

/** A row that is work to be done, claimed by this worker. */
export interface Leased {
  storeId: string;
  /** Its key within the store. */
  key: string;
  /** Number of claims including this one; with the worker it distinguishes this claim from others. */
  attempts: number;
}

/** A table whose rows are work. */
export interface WorkTable {
  table: string;
  /** The column that identifies a row of a store. */
  key: string;
  /** The column that is `pending` until the work is done, and `failed` after the last attempt. */
  state: string;
}

const first = '00000000-0000-0000-0000-000000000000';

/**
 * Makes a function that claims the oldest due row of the next store for `worker`; undefined if there is none. The stores
 * take turns, so one with many rows delays no other. `busy` are stores that are passed over.
 */
export const createFairClaim = (sql: Sql, worker: string, { table, key, state }: WorkTable) => {
  const isDue = () => sql`${sql(state)} = 'pending' and worker is null and due_at <= now()`;
  /** The store whose turn was last. */
  let last = first;
  const after = async (busy: string): Promise<Leased | undefined> => {
    const [row] = await sql<Leased[]>`
      with recursive turn as (
        (select store_id from ${sql(table)} where ${isDue()} and store_id > ${last} order by store_id limit 1)
        union all
        select next.store_id from turn cross join lateral (
          select store_id from ${sql(table)} where ${isDue()} and store_id > turn.store_id order by store_id limit 1
        ) as next
        where turn.store_id = any(${busy}::uuid[])),
      claimed as materialized (
        select store_id, ${sql(key)} from ${sql(table)}
        where ${isDue()} and store_id = (select store_id from turn where store_id <> all(${busy}::uuid[]))
        order by due_at limit 1 for update skip locked)
      update ${sql(table)} set attempts = attempts + 1, worker = ${worker}
      where (store_id, ${sql(key)}) in (select * from claimed)
      returning store_id as "storeId", ${sql(key)} as key, attempts`;
    last = row?.storeId ?? first;
    return row;
  };
  return async (busy: readonly string[]): Promise<Leased | undefined> => {
    const isFirst = last === first;
    const stores = plainArrayOf(busy);
    return (await after(stores)) ?? (isFirst ? undefined : after(stores));
  };
};
