import { createHash } from 'node:crypto';
import { oneAddress } from '@platform/mail/address';
import { createOutbox, type Outbox } from '@platform/mail/outbox';
import type { LeasedRow, LeaseOptions } from '@platform/service-kit/leased-work';
import { createRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';
import type { Sql } from 'postgres';
import type { Env } from '../env.ts';
import { isWanted, languageFor, mailText, type Notice } from './notice.ts';
import type { NotificationSettings } from './schema.ts';

interface Notification extends Pick<Notice, 'audience' | 'kind' | 'change' | 'reference'> {
  isDeleted: boolean;
  storeName: string;
  settings: NotificationSettings;
  orderNo: string | null;
  consumerId: string | null;
  /** Mail address of the user, or else of the member. */
  customer: string | null;
  language: string | null;
  resends: number;
}

/** Reads the data of a mail when it is sent, because a delivery may arrive before its order, and an order before its customer. */
const readNotification = async (
  sql: Sql,
  { owner: storeId, key }: LeasedRow,
): Promise<Notification | undefined> => {
  const [row] = await sql<Notification[]>`
    select n.audience, n.kind, n.change, n.reference, n.resends, s.name as "storeName", s.deleted_at is not null as "isDeleted",
      s.settings -> 'notifications' as settings, o.details ->> 'orderNo' as "orderNo", c.id as "consumerId",
      coalesce(u.email, m.email) as customer, u.language
    from notifications n join stores s on s.id = n.store_id
    left join delivery_jobs j on n.kind = 'delivery' and j.store_id = n.store_id and j.id = n.reference
    left join orders o on o.store_id = n.store_id
      and o.id = case n.kind when 'order' then n.reference when 'delivery' then j.order_id end
    cross join lateral (select coalesce(n.consumer_id, o.consumer_id) as id) c
    left join users u on u.store_id = n.store_id and u.consumer_user_id = c.id
    left join members m on m.store_id = n.store_id and m.id = c.id
    where n.store_id = ${storeId} and n.id = ${key}`;
  return row;
};

const addressOf = ({ audience, settings, customer }: Notification): string | undefined =>
  oneAddress(audience === 'store' ? settings.staff?.email : customer);

/** The name of a store for the header of a mail. */
const nameOf = (storeName: string): string => storeName.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').slice(0, 100);

/** The sender name, reply address, subject and text of a mail. */
export const mailOf = (
  notification: Pick<Notification, 'storeName' | 'settings' | 'audience' | 'kind' | 'change' | 'orderNo'>,
  customerLanguage: string | null | undefined,
) => {
  const { storeName, settings, audience } = notification;
  const language = languageFor(settings, audience === 'customer' ? customerLanguage : undefined);
  const { subject, text } = mailText(notification, language);
  const name = nameOf(storeName);
  const { replyTo, fromName = name } = settings.customers;
  return {
    ...(audience === 'customer' && { fromName, replyTo }),
    subject: `${name}: ${subject}`,
    text: `${text}.\n`,
  };
};

/** Records that a mail was sent, even if another worker has claimed it since, but not if a resend was requested. */
const recordSent = (sql: Sql, { owner: storeId, key }: LeasedRow, { resends }: Notification) => sql`
  update notifications set mail = 'sent', worker = null, error = null, sent_at = now()
  where store_id = ${storeId} and id = ${key} and resends = ${resends} and mail <> 'sent'`;

const recordUnsent = (
  sql: Sql,
  worker: string,
  { owner: storeId, key, attempts }: LeasedRow,
  mail: 'off' | 'no_address',
  consumerId: string | null,
) => sql`
  update notifications set mail = ${mail}, worker = null, error = null, consumer_id = ${consumerId}
  where store_id = ${storeId} and id = ${key} and worker = ${worker} and attempts = ${attempts}`;

/** Records that there is no address, then looks again: an address that arrived in between does not release a mail in progress. */
const recordMissingAddress = async (
  sql: Sql,
  worker: string,
  row: LeasedRow,
  consumerId: string | null,
): Promise<void> => {
  await recordUnsent(sql, worker, row, 'no_address', consumerId);
  const current = await readNotification(sql, row);
  if (current === undefined || (current.consumerId === consumerId && addressOf(current) === undefined))
    return;
  await sql`
    update notifications set mail = 'pending', attempts = 0, due_at = now()
    where store_id = ${row.owner} and id = ${row.key} and mail = 'no_address'`;
};

/** Maximum number of mails of a store to one address per day, so that forged webhooks cannot flood the mailbox of a third person. */
const maxPerDay = 50;

/** Sends notifications by SMTP; undefined if no mail server is configured. */
export const createMailer = (
  { SMTP_URL: url, SMTP_FROM: from }: Env,
  redis: RateCounterOptions['redis'],
  leases: LeaseOptions,
): Outbox | undefined => {
  if (url === undefined) return undefined;
  const { sql, worker } = leases;
  const countMail = createRateCounter({
    redis,
    prefix: 'store-webhooks:mailed',
    points: maxPerDay,
    seconds: 86_400,
  });
  const exceedsDailyLimit = async ({ owner: storeId }: LeasedRow, to: string): Promise<boolean> => {
    const key = createHash('sha256').update(`${storeId} ${to.toLowerCase()}`).digest('base64url');
    return (await countMail(key)).consumedPoints > maxPerDay;
  };
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
      // It was erased in between.
      if (notification === undefined) return { record: () => Promise.resolve() };
      const { consumerId, settings, language, resends } = notification;
      if (notification.isDeleted || !isWanted(settings, notification))
        return { record: () => recordUnsent(sql, worker, row, 'off', consumerId) };
      const to = addressOf(notification);
      if (to === undefined) return { record: () => recordMissingAddress(sql, worker, row, consumerId) };
      // A retried mail is already counted.
      if (notification.audience === 'customer' && row.attempts === 1 && (await exceedsDailyLimit(row, to)))
        return { record: () => recordUnsent(sql, worker, row, 'off', consumerId) };
      const messageId = `<${row.key}${resends === 0 ? '' : `.${resends}`}@store-webhooks>`;
      return {
        mail: { to, messageId, ...mailOf(notification, language) },
        record: () => recordSent(sql, row, notification),
      };
    },
  });
};

/** How many mails are still to be sent, and how many seconds the oldest has been waiting; 0 if none waits. */
export const countMails = async (sql: Sql): Promise<{ count: number; seconds: number }> => {
  const [row] = await sql<[{ count: number; seconds: number }]>`
    select count(*)::int as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
    from notifications where mail = 'pending'`;
  return row;
};
