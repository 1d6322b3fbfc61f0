import type { Sql } from 'postgres';

/** The encrypted addresses that the refused events of a store were sent to; `replace` stores a new ciphertext unless the address has changed. */
export const refusedAddresses = async (sql: Sql, storeId: string) => {
  const events = await sql<{ id: string; url: string }[]>`
    select id, headers ->> ':url' as url from inbox
    where store_id = ${storeId} and state = 'refused' and headers ? ':url'`;
  return events.map(({ id, url }) => ({
    id,
    url,
    replace: (resealed: string) => sql`
      update events set headers = headers || jsonb_build_object(':url', ${resealed}::text)
      where store_id = ${storeId} and id = ${id} and headers ->> ':url' = ${url}`,
  }));
};
