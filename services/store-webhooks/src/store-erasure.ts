import { eraseAnswers } from '@platform/outgoing-webhooks';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import type { Sql } from 'postgres';
import * as schema from './db/tables.ts';

/** Work queues are emptied first, because pending work adds rows to the other tables. */
const workQueues = new Set(['queue', 'import_jobs']);

/** All tables with rows of a store, in the order in which they are emptied. */
const storeTables = Object.values<unknown>(schema)
  .filter((table): table is PgTable => is(table, PgTable))
  .filter((table) => 'storeId' in getTableColumns(table))
  .map(getTableName)
  .toSorted((left, right) => Number(workQueues.has(right)) - Number(workQueues.has(left)));

/**
 * Deletes a batch of the rows of a store that was deleted before `before`, and finally the store itself. Returns whether there
 * may be more. Its tokens have been invalid for at least a day, so nothing arrives for it any more. The store is locked:
 * otherwise an instance that waited for rows that another one deletes would find none and delete the store too early.
 */
export const eraseStores = (sql: Sql, before: Date, batchSize = 1000): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [store] = await tx<{ id: string }[]>`
      select id from stores where deleted_at < ${before.toISOString()}
      order by deleted_at limit 1 for update skip locked`;
    if (store === undefined) return false;
    let erased = 0;
    for (const table of storeTables) {
      const { count } = await tx`
        delete from ${tx(table)} where ctid = any(array(
          select ctid from ${tx(table)} where store_id = ${store.id} limit ${batchSize}))`;
      if (count === batchSize) return true;
      erased += count;
    }
    // Rows may have been changed or added in between, so the store is deleted after a pass that found no rows.
    if (erased > 0) return true;
    await tx`delete from stores where id = ${store.id}`;
    await eraseAnswers(tx, store.id);
    return true;
  });
