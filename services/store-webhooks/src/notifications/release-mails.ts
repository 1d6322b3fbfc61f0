import type { ISql } from 'postgres';
import { arrayOf, plainArrayOf, type Fragment } from '../db/sql.ts';
import { jobStages } from '../providers/records.ts';

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

/** Condition for a mail to a customer that is not sent yet and not older than a day. */
const isRecent = (sql: ISql): Fragment => sql`
  n.mail in ('no_address', 'pending') and n.audience = 'customer' and n.created_at > now() - interval '1 day'`;

/** Maximum number of notifications of a customer, and of jobs of an order, that are looked at: the events of all stores wait. */
const [maxNotifications, maxJobs] = [200, 20];

/**
 * Makes the mails of these customers due that had no address until now. A mail that is older than a day is not sent any more,
 * because its news would be old (docs/adr/0083).
 */
export const releaseMails = async (sql: ISql, customers: readonly Customer[]): Promise<void> => {
  if (customers.length === 0) return;
  await sql`
    with newest as materialized (
      select c.store_id, found.id
      from unnest(${plainArrayOf(customers.map(({ storeId }) => storeId))}::text::uuid[],
        ${arrayOf(customers.map(({ consumerUserId }) => consumerUserId))}::text::text[]) as c (store_id, consumer_id)
      cross join lateral (
        select id from notifications where store_id = c.store_id and consumer_id = c.consumer_id
        order by id desc limit ${maxNotifications}) as found)
    update notifications n set mail = 'pending', ${dueIfWaiting(sql)}
    from newest where n.store_id = newest.store_id and n.id = newest.id and ${isRecent(sql)}`;
};

/**
 * The same for mails about deliveries whose customer was unknown. `applied`, a table of the caller's statement, contains the
 * orders that have arrived ("storeId", id, "consumerId"). The mails are found by the keys of `noticesOf`; not by the customer
 * that they lack, as most notifications of a store have none.
 */
export const releaseDeliveryMails = (sql: ISql): Fragment => sql`
  with found as materialized (
    select "storeId" as store_id, "consumerId" as consumer_id, mail.id
    from applied cross join lateral (
      select id from delivery_jobs where store_id = "storeId" and order_id = applied.id limit ${maxJobs}) as job
    cross join generate_series(1, ${jobStages.length}) as step
    cross join lateral (
      select id from notifications where store_id = "storeId" and key = 'job:' || job.id || ':' || step || ':customer' limit 1) as mail
    where "consumerId" is not null)
  update notifications n set consumer_id = found.consumer_id, mail = 'pending', ${dueIfWaiting(sql)}
  from found where n.store_id = found.store_id and n.id = found.id and n.consumer_id is null and ${isRecent(sql)}`;
