import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import type { Sql } from 'postgres';
import * as schema from './db/tables.ts';

/** Tables with work to be done: without it nothing adds rows to the others meanwhile, so these are emptied first. */
const first = new Set(['queue', 'import_jobs']);

/** Every table with rows of a store. */
const tablesOfStores = Object.values<unknown>(schema)
  .filter((table): table is PgTable => is(table, PgTable))
  .filter((table) => 'storeId' in getTableColumns(table))
  .map(getTableName)
  .toSorted((one, other) => Number(first.has(other)) - Number(first.has(one)));

/**
 * Deletes a slice of what belongs to a store that was deleted before `before`, and last the store itself. Returns whether
 * there may be more. Its tokens have been unknown for a day or more, so that nothing arrives for it any more. The store is
 * locked: an instance that waited for rows that another one deletes would find none, and delete the store before the rest.
 */
export const eraseStores = (sql: Sql, before: Date, atOnce = 1000): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [store] = await tx<{ id: string }[]>`
      select id from stores where deleted_at < ${before.toISOString()}
      order by deleted_at limit 1 for update skip locked`;
    if (store === undefined) return false;
    let erased = 0;
    for (const table of tablesOfStores) {
      const { count } = await tx`
        delete from ${tx(table)} where ctid = any(array(
          select ctid from ${tx(table)} where store_id = ${store.id} limit ${atOnce}))`;
      if (count === atOnce) return true;
      erased += count;
    }
    // What was changed or added meanwhile is still there, so the store goes after a pass that has found nothing.
    if (erased > 0) return true;
    await tx`delete from stores where id = ${store.id}`;
    return true;
  });
