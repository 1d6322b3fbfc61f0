import type { ISql } from 'postgres';
import type { Notice } from '../records/change.ts';

/**
 * Adds notifications that are not in the log yet and returns their subjects; `mails` also queues them for
 * sending.
 */
export const addNotices = async (
  sql: ISql,
  notices: readonly Notice[],
  mails: boolean,
): Promise<string[]> => {
  if (notices.length === 0) return [];
  const added = await sql<{ subject: string }[]>`
    insert into notifications (store_id, id, key, kind, audience, subject, reference, consumer_id,
      event_id, mail, due_at, created_at)
    select n."storeId", uuidv7(), n.key, n.kind, n.audience, n.subject, n.reference,
      coalesce(n."consumerId", o.consumer_id), n."eventId", ${mails ? 'pending' : 'off'}, now(), now()
    from jsonb_to_recordset(${JSON.stringify(notices)}::jsonb) as n ("storeId" uuid, key text, kind text,
      audience text, subject text, reference text, "consumerId" text, "eventId" uuid)
    left join delivery_jobs j on n.kind = 'delivery' and j.store_id = n."storeId" and j.id = n.reference
    left join orders o on o.store_id = j.store_id and o.id = j.order_id
    on conflict (store_id, key) do nothing returning subject`;
  return added.map(({ subject }) => subject);
};
