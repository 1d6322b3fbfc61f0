import { oneAddress } from '@platform/mail/address';
import { createOutbox, type Outbox } from '@platform/mail/outbox';
import type { LeasedRow, LeaseOptions } from '@platform/service-kit/leased-work';
import type { Sql } from 'postgres';
import type { Env } from '../env.ts';
import type { StoreSettings } from '../stores/settings.ts';
import { releaseMails } from './release.ts';
import { mailSubject, type Notice } from './notice.ts';

interface Notification {
  audience: Notice['audience'];
  kind: Notice['kind'];
  reference: string;
  subject: string;
  orderNo: string | null;
  storeName: string;
  settings: StoreSettings;
  consumerId: string | null;
  customer: string | null;
  resends: number;
}

const readNotification = async (
  sql: Sql,
  { owner: storeId, key }: LeasedRow,
): Promise<Notification | undefined> => {
  const [row] = await sql<Notification[]>`
    select n.audience, n.kind, n.reference, n.subject, n.resends, s.name as "storeName", s.settings,
      n.consumer_id as "consumerId", u.email as customer, o.details ->> 'orderNo' as "orderNo"
    from notifications n join stores s on s.id = n.store_id
    left join users u on u.store_id = n.store_id and u.consumer_user_id = n.consumer_id
    left join orders o on n.kind = 'order' and o.store_id = n.store_id and o.id = n.reference
    where n.store_id = ${storeId} and n.id = ${key}`;
  return row;
};

/** Also when another worker has claimed the mail meanwhile, but not when it is to be sent once more. */
const recordSent = (sql: Sql, { owner: storeId, key }: LeasedRow, { resends }: Notification) => sql`
  update notifications set mail = 'sent', worker = null, error = null, sent_at = now()
  where store_id = ${storeId} and id = ${key} and resends = ${resends} and mail <> 'sent'`;

/** The customer may have got an address since the look-up: what brought it passed over a mail in work. */
const recordWithoutAddress = async (sql: Sql, worker: string, row: LeasedRow): Promise<void> => {
  await sql`
    update notifications set mail = 'no_address', worker = null, error = null
    where store_id = ${row.owner} and id = ${row.key} and worker = ${worker} and attempts = ${row.attempts}`;
  const notification = await readNotification(sql, row);
  if (notification?.consumerId != null && oneAddress(notification.customer) !== undefined)
    await releaseMails(sql, [{ storeId: row.owner, consumerUserId: notification.consumerId }]);
};

/** Sends notifications by SMTP; undefined if no mail server is configured. */
export const createMailer = (
  { SMTP_URL: url, SMTP_FROM: from }: Env,
  leases: LeaseOptions,
): Outbox | undefined => {
  if (url === undefined) return undefined;
  const { sql, worker } = leases;
  return createOutbox({
    ...leases,
    url,
    from,
    table: 'notifications',
    owner: 'store_id',
    key: 'id',
    state: 'mail',
    compose: async (row) => {
      const notification = await readNotification(sql, row);
      const to = oneAddress(
        notification?.audience === 'store'
          ? notification.settings.notifications.email
          : notification?.customer,
      );
      if (notification === undefined || to === undefined)
        return { record: () => recordWithoutAddress(sql, worker, row) };
      return {
        mail: {
          to,
          subject: mailSubject(notification),
          text: `${notification.subject}.\n`,
          messageId: `<${row.key}${notification.resends === 0 ? '' : `.${notification.resends}`}@store-webhooks>`,
        },
        record: () => recordSent(sql, row, notification),
      };
    },
  });
};

/** How many mails are still to be sent, and for how many seconds the oldest has been waiting; 0 if none waits. */
export const countMails = async (sql: Sql): Promise<{ count: number; seconds: number }> => {
  const [row] = await sql<[{ count: number; seconds: number }]>`
    select count(*)::int as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
    from notifications where mail = 'pending'`;
  return row;
};
