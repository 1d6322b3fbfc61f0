import { createTransport } from 'nodemailer';
import type { Sql } from 'postgres';
import type { Context } from '../context.ts';
import type { StoreSettings } from '../stores/settings.ts';
import type { Notice } from '../records/change.ts';
import { oneAddress } from './email-address.ts';
import { releaseMails } from './release.ts';
import { mailSubject } from './text.ts';
import type { Leased } from '../process/fair-claim.ts';
import { createLeasedWork, type Leases } from '../process/leased-work.ts';

interface Mail {
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

const readMail = async (sql: Sql, { storeId, key }: Leased): Promise<Mail | undefined> => {
  const [mail] = await sql<Mail[]>`
    select n.audience, n.kind, n.reference, n.subject, n.resends, s.name as "storeName", s.settings,
      n.consumer_id as "consumerId", u.email as customer, o.details ->> 'orderNo' as "orderNo"
    from notifications n join stores s on s.id = n.store_id
    left join users u on u.store_id = n.store_id and u.consumer_user_id = n.consumer_id
    left join orders o on n.kind = 'order' and o.store_id = n.store_id and o.id = n.reference
    where n.store_id = ${storeId} and n.id = ${key}`;
  return mail;
};

export interface Mailer extends Leases {
  close(): void;
}

/** The mail server gets this many connections. */
const limits = [5, 3] as const;

/**
 * Sends notifications by SMTP; undefined if no mail server is configured. Each is sent at least once: after a crash
 * between sending and marking, the mail is sent again with the same Message-ID. `onRoom` is called whenever another mail
 * can be sent.
 */
export const createMailer = (context: Context, worker: string, onRoom: () => void): Mailer | undefined => {
  const { env, database } = context;
  if (env.SMTP_URL === undefined) return undefined;
  const { sql } = database;
  const transport = createTransport({
    url: env.SMTP_URL,
    pool: true,
    maxConnections: limits[0],
    connectionTimeout: 5000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  /** Also when another worker has claimed the mail meanwhile, but not when it is to be sent once more. */
  const markSent =
    ({ storeId, key }: Leased, { resends }: Mail) =>
    () =>
      sql`
    update notifications set mail = 'sent', worker = null, error = null, sent_at = now()
    where store_id = ${storeId} and id = ${key} and resends = ${resends} and mail <> 'sent'`;
  /** The customer may have got an address since the look-up: what brought it passed over a mail in work. */
  const markWithoutAddress = (row: Leased) => async (): Promise<void> => {
    await sql`
        update notifications set mail = 'no_address', worker = null, error = null
        where store_id = ${row.storeId} and id = ${row.key} and worker = ${worker} and attempts = ${row.attempts}`;
    const mail = await readMail(sql, row);
    if (mail?.consumerId != null && oneAddress(mail.customer) !== undefined)
      await releaseMails(sql, [{ storeId: row.storeId, consumerUserId: mail.consumerId }]);
  };
  const send = async (row: Leased) => {
    const mail = await readMail(sql, row);
    const to = oneAddress(mail?.audience === 'store' ? mail.settings.notifications.email : mail?.customer);
    if (mail === undefined || to === undefined) return markWithoutAddress(row);
    await transport.sendMail({
      from: env.SMTP_FROM,
      // An object: nodemailer would read a text as a list of addresses.
      to: { name: '', address: to },
      subject: mailSubject(mail),
      text: `${mail.subject}.\n`,
      messageId: `<${row.key}${mail.resends === 0 ? '' : `.${mail.resends}`}@store-webhooks>`,
    });
    return markSent(row, mail);
  };
  const work = { table: 'notifications', key: 'id', state: 'mail', limits, event: 'notification' };
  return {
    ...createLeasedWork(context, worker, { ...work, perform: send }, onRoom),
    close: () => transport.close(),
  };
};
