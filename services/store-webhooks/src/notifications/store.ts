import type { Sql } from 'postgres';
import type { Fragment } from '../db/sql.ts';

/** Newest first. */
export const listNotifications = (sql: Sql, storeId: string): Fragment => sql`
  select id, kind, audience, subject, reference, event_id as "eventId", mail,
    created_at as "createdAt", sent_at as "sentAt"
  from notifications where store_id = ${storeId} order by id desc`;
