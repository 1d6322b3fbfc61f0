import type { ISql } from 'postgres';
import { orderText } from '../notifications/text.ts';
import { isNewer } from '../worker/newer.ts';
import type { ChangeOf, Notice, Sourced } from '../worker/change.ts';

interface Applied {
  storeId: string;
  id: string;
  consumerId: string | null;
  was: string | null;
  status: string;
  eventId: string;
  orderNo: string | null;
}

/** Replaces orders together with their items; an older version never replaces a newer one. */
export const applyOrders = async (
  sql: ISql,
  changes: readonly Sourced<ChangeOf<'order'>>[],
): Promise<Notice[]> => {
  const rows = changes.map(({ storeId, eventId, receivedAt, change: { order } }) => ({
    store_id: storeId,
    id: order.id,
    status: order.status,
    consumer_id: order.consumerId,
    version: order.version,
    details: order.details,
    event_id: eventId,
    updated_at: receivedAt,
  }));
  const applied = await sql<Applied[]>`
    insert into orders as o
    select * from jsonb_populate_recordset(null::orders, ${JSON.stringify(rows)}::jsonb)
    on conflict (store_id, id) do update set status = excluded.status, consumer_id = excluded.consumer_id,
      version = coalesce(excluded.version, o.version), details = excluded.details,
      event_id = excluded.event_id, updated_at = excluded.updated_at
    where ${isNewer(sql, 'o')}
    returning new.store_id as "storeId", new.id, new.consumer_id as "consumerId", old.status as was,
      new.status, new.event_id as "eventId", new.details ->> 'orderNo' as "orderNo"`;
  return applied
    .filter(({ was, status }) => was !== status)
    .map(({ storeId, id, consumerId, status, eventId, orderNo }) => ({
      storeId,
      key: `order:${id}:${eventId}`,
      kind: 'order',
      audience: 'customer',
      subject: orderText(orderNo, id, status),
      reference: id,
      consumerId,
      eventId,
    }));
};
