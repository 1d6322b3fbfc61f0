import type { ISql } from 'postgres';
import { v7 } from 'uuid';
import type { Notice } from '../worker/change.ts';

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
  const rows = notices.map(({ storeId, key, kind, audience, subject, reference, consumerId, eventId }) => ({
    store_id: storeId,
    id: v7(),
    key,
    kind,
    audience,
    subject,
    reference,
    consumer_id: consumerId,
    event_id: eventId,
  }));
  const added = await sql<{ subject: string }[]>`
    insert into notifications (store_id, id, key, kind, audience, subject, reference, consumer_id,
      event_id, mail, due_at, created_at)
    select n.store_id, n.id, n.key, n.kind, n.audience, n.subject, n.reference,
      coalesce(n.consumer_id, o.consumer_id), n.event_id, ${mails ? 'pending' : 'off'}, now(), now()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n (store_id uuid, id uuid, key text, kind text,
      audience text, subject text, reference text, consumer_id text, event_id uuid)
    left join delivery_jobs j on n.kind = 'delivery' and j.store_id = n.store_id and j.id = n.reference
    left join orders o on o.store_id = j.store_id and o.id = j.order_id
    on conflict (store_id, key) do nothing returning subject`;
  return added.map(({ subject }) => subject);
};
