import type { ISql } from 'postgres';
import { arrayOf, plainArrayOf, type Fragment } from '../db/sql.ts';

/** A customer, identified by the id of the member at the POS. */
export interface Customer {
  storeId: string;
  consumerUserId: string;
}

/**
 * Makes a mail due that waits for an address; a mail that is due or in progress stays as it is. Its row is updated anyway: a
 * worker that is about to record that there is no address waits for the lock of the row, and then finds the address.
 */
const dueIfWaiting = (sql: ISql): Fragment => sql`
  attempts = case n.mail when 'no_address' then 0 else n.attempts end,
  due_at = case n.mail when 'no_address' then now() else n.due_at end`;

/**
 * Makes the mails of these customers due that had no address until now. A mail that is older than a day is not sent any more,
 * because its news would be old (docs/adr/0083).
 */
export const releaseMails = async (sql: ISql, customers: readonly Customer[]): Promise<void> => {
  if (customers.length === 0) return;
  await sql`
    update notifications n set mail = 'pending', ${dueIfWaiting(sql)}
    from unnest(${plainArrayOf(customers.map(({ storeId }) => storeId))}::text::uuid[],
      ${arrayOf(customers.map(({ consumerUserId }) => consumerUserId))}::text::text[]) as c (store_id, consumer_id)
    where n.store_id = c.store_id and n.consumer_id = c.consumer_id and n.mail in ('no_address', 'pending')
      and n.audience = 'customer' and n.created_at > now() - interval '1 day'`;
};

/**
 * The same for mails about deliveries whose customer was unknown. `applied`, a table of the caller's statement, contains the
 * orders that have arrived ("storeId", id, "consumerId").
 */
export const releaseDeliveryMails = (sql: ISql): Fragment => sql`
  update notifications n set consumer_id = o."consumerId", mail = 'pending', ${dueIfWaiting(sql)}
  from applied o join delivery_jobs j on j.store_id = o."storeId" and j.order_id = o.id
  where o."consumerId" is not null and n.store_id = j.store_id and n.kind = 'delivery' and n.reference = j.id
    and n.mail in ('no_address', 'pending') and n.audience = 'customer' and n.consumer_id is null
    and n.created_at > now() - interval '1 day'`;
