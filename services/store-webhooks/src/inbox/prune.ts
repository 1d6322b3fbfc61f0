import type { Sql } from 'postgres';

const atOnce = 1000;

/** The smallest UUIDv7 of an instant; ids below it were made before. */
export const firstIdOf = (at: Date): string => {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/**
 * Deletes some events that were received before `before` and are finished, oldest first; gives
 * whether there may be more. Ids tell the time, so each store's primary key finds them.
 */
export const prune = async (sql: Sql, before: Date): Promise<boolean> => {
  const stores = await sql<{ id: string }[]>`select id from stores`;
  const limit = firstIdOf(before);
  let deleted = 0;
  for (const { id } of stores) {
    const { count } = await sql`
      delete from inbox where store_id = ${id} and id in (
        select id from inbox where store_id = ${id} and id < ${limit} and state <> 'pending'
        order by id limit ${atOnce})`;
    deleted = Math.max(deleted, count);
  }
  return deleted === atOnce;
};
