import type { Sql } from 'postgres';

const atOnce = 1000;

/** The smallest UUIDv7 of a point in time; smaller ids were created earlier. */
export const firstIdOf = (at: Date): string => {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/**
 * Deletes some finished events that were received before `before`, oldest first. Returns whether
 * there may be more. Ids contain the time, so the primary key finds the events of each store.
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
