import { createTransport } from 'nodemailer';
import type { Sql } from 'postgres';
import type { Context } from '../context.ts';
import type { StoreSettings } from '../stores/settings.ts';
import type { Notice } from '../worker/change.ts';
import { oneAddress } from './email-address.ts';
import { mailSubject } from './text.ts';
import { safeErrorMessage } from '../tracker/failure.ts';
import { attemptsWithin, backoff } from '../worker/backoff.ts';

interface Mail {
  storeId: string;
  id: string;
  audience: Notice['audience'];
  kind: Notice['kind'];
  reference: string;
  subject: string;
  orderNo: string | null;
  attempts: number;
  storeName: string;
  settings: StoreSettings;
  customer: string | null;
}

/** Longer than sending takes; a mail of a crashed process waits until its lease ends. */
const leaseMs = 30_000;

const claimMail = async (sql: Sql): Promise<Mail | undefined> => {
  const [mail] = await sql<Mail[]>`
    with claimed as (
      update notifications set attempts = attempts + 1, due_at = now() + ${leaseMs} * interval '1 ms'
      where (store_id, id) in (
        select store_id, id from notifications where mail = 'pending' and due_at <= now()
        order by due_at limit 1 for update skip locked)
      returning *)
    select n.store_id as "storeId", n.id, n.audience, n.kind, n.reference, n.subject, n.attempts,
      s.name as "storeName", s.settings, u.email as customer, o.details ->> 'orderNo' as "orderNo"
    from claimed n join stores s on s.id = n.store_id
    left join users u on u.store_id = n.store_id and u.consumer_user_id = n.consumer_id
    left join orders o on n.kind = 'order' and o.store_id = n.store_id and o.id = n.reference`;
  return mail;
};

const mark = async (sql: Sql, { storeId, id }: Mail, mail: string, error: string | null): Promise<void> => {
  await sql`
    update notifications set mail = ${mail}, error = ${error}, sent_at = case when ${mail} = 'sent' then now() end
    where store_id = ${storeId} and id = ${id}`;
};

export interface Mailer {
  /** Sends one mail that is due; returns whether there was one. */
  sendOne(): Promise<boolean>;
  close(): void;
}

/**
 * Sends notifications by SMTP; undefined if no mail server is configured. Each is sent at least once: after a crash
 * between sending and marking, the mail is sent again with the same Message-ID.
 */
export const createMailer = ({ env, database, tracker }: Context): Mailer | undefined => {
  if (env.SMTP_URL === undefined) return undefined;
  const { sql } = database;
  const maxAttempts = attemptsWithin(env.RETRY_FOR_HOURS, env.RETRY_BASE_MS);
  const transport = createTransport({
    url: env.SMTP_URL,
    pool: true,
    connectionTimeout: 5000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  const send = async (mail: Mail): Promise<void> => {
    const to = oneAddress(mail.audience === 'store' ? mail.settings.notifications.email : mail.customer);
    if (to === undefined) return mark(sql, mail, 'no_address', null);
    await transport.sendMail({
      from: env.SMTP_FROM,
      // An object: nodemailer would read a text as a list of addresses.
      to: { name: '', address: to },
      subject: mailSubject(mail),
      text: `${mail.subject}.\n`,
      messageId: `<${mail.id}@store-webhooks>`,
    });
    await mark(sql, mail, 'sent', null);
  };
  return {
    sendOne: async () => {
      const mail = await claimMail(sql);
      if (mail === undefined) return false;
      try {
        await send(mail);
      } catch (error) {
        tracker.capture(error, { storeId: mail.storeId, event: 'notification', attempt: mail.attempts });
        if (mail.attempts >= maxAttempts) await mark(sql, mail, 'failed', safeErrorMessage(error));
        else
          await sql`
            update notifications set error = ${safeErrorMessage(error)},
              due_at = now() + ${backoff(mail.attempts, env.RETRY_BASE_MS)} * interval '1 ms'
            where store_id = ${mail.storeId} and id = ${mail.id}`;
      }
      return true;
    },
    close: () => transport.close(),
  };
};
