import type { PendingQuery, Row, Sql } from 'postgres';

/** The sealed addresses that the refused events of a store were sent to. */
export const refusedAddresses = (sql: Sql, storeId: string) => sql<{ id: string; url: string }[]>`
  select id, headers ->> ':url' as url from inbox
  where store_id = ${storeId} and state = 'refused' and headers ? ':url'`;

/** Replaces the sealed address of an event unless it has changed meanwhile. */
export const replaceAddress = (
  sql: Sql,
  storeId: string,
  { id, url }: { id: string; url: string },
  replacement: string,
): PendingQuery<Row[]> => sql`
  update events set headers = headers || jsonb_build_object(':url', ${replacement}::text)
  where store_id = ${storeId} and id = ${id} and headers ->> ':url' = ${url}`;
