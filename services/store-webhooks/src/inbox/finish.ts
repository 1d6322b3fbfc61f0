import type { Sql } from 'postgres';

/** Marks an event that was processed by the request that brought it. */
export const finishLive = async (
  sql: Sql,
  { storeId, id }: { storeId: string; id: string },
  state: 'done' | 'failed' | 'ignored',
  error?: string,
): Promise<void> => {
  await sql`
    update inbox set state = ${state}, error = ${error ?? null}, attempts = 1, finished_at = now()
    where store_id = ${storeId} and id = ${id} and state = 'pending'`;
};
