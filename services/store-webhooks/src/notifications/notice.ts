import type { ISql } from 'postgres';
import type { notificationKinds } from '../db/records.ts';
import type { JobStage } from '../providers/records.ts';
import type { NotificationSettings } from './schema.ts';
import { de } from './texts/de.ts';
import { en, type Texts } from './texts/en.ts';
import { mailLanguages, type MailLanguage, type MailText } from './texts/texts.ts';

/** An entry of the notification log: a change and its audience. A second entry with the same key is not written. */
export interface Notice {
  storeId: string;
  key: string;
  kind: (typeof notificationKinds)[number];
  audience: 'customer' | 'store';
  /** The status of the order or verification, or the step of the delivery; for a member `created` or `changed`. */
  change: string;
  /** Id of the order, member, job or verification. */
  reference: string;
  /** The order number that customers know. */
  orderNo?: string | null;
  consumerId?: string | null;
  eventId: string;
}

const isOneOf = (selection: readonly string[] | undefined, value: string): boolean =>
  selection === undefined || selection.includes(value);

/** Whether a store wants the mail of a change. */
export const isWanted = (
  { staff, customers }: NotificationSettings,
  { audience, kind, change }: Pick<Notice, 'audience' | 'kind' | 'change'>,
): boolean => {
  if (audience === 'store') return staff !== undefined && isOneOf(staff.events, kind);
  const selection = kind === 'order' ? customers.orderStatuses : customers.deliveryEvents;
  return customers.enabled && isOneOf(selection, change);
};

/** The language of a mail: that of the customer if there are texts in it (`de-AT` is `de`), else that of the store. */
export const languageFor = (
  { customers }: NotificationSettings,
  customerLanguage: string | null | undefined,
): MailLanguage => {
  const [primary] = (customerLanguage ?? '').toLowerCase().split('-', 1);
  return mailLanguages.find((language) => language === primary) ?? customers.language;
};

const texts: Record<MailLanguage, Texts> = { en, de };

/** No dots or slashes: mail programs turn a text that looks like a host name into a link. */
const plainNumber = /^[A-Za-z0-9#_-]{1,40}$/;
const plainWord = /^[A-Za-z0-9_-]{1,30}$/;

/**
 * The subject and text of a mail about a change. Anyone with a webhook token can choose order numbers and states, so only short
 * plain ones are quoted; ids never are.
 */
export const mailText = (
  { audience, kind, change, orderNo }: Pick<Notice, 'audience' | 'kind' | 'change' | 'orderNo'>,
  language: MailLanguage,
): MailText => {
  const localTexts = texts[language];
  const order = orderNo != null && plainNumber.test(orderNo) ? ` ${orderNo}` : '';
  const status = plainWord.test(change) ? change : undefined;
  const sameSubject = (text: string): MailText => ({ subject: text, text });
  if (kind === 'order') return localTexts.order(order, status);
  if (kind === 'member') return sameSubject(localTexts.member(change === 'created'));
  if (kind === 'verification') return sameSubject(localTexts.verification(status));
  const step = change as JobStage;
  return sameSubject(
    audience === 'store' ? localTexts.storeDelivery(order, step) : localTexts.customerDelivery(order, step),
  );
};

/**
 * Adds notifications that are not in the log yet and returns their subjects; those for which `isMailed` returns true are also
 * queued as mails.
 */
export const addNotices = async (
  sql: ISql,
  notices: readonly Notice[],
  isMailed: (notice: Notice) => boolean,
): Promise<string[]> => {
  if (notices.length === 0) return [];
  const rows = notices.map((notice) => ({
    ...notice,
    subject: mailText(notice, 'en').text,
    mail: isMailed(notice) ? 'pending' : 'off',
  }));
  const added = await sql<{ subject: string }[]>`
    insert into notifications (store_id, id, key, kind, audience, change, subject, reference, consumer_id, event_id, mail,
      due_at, created_at)
    select "storeId", uuidv7(), key, kind, audience, change, subject, reference, "consumerId", "eventId", mail, now(), now()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as n ("storeId" uuid, key text, kind text, audience text,
      change text, subject text, reference text, "consumerId" text, "eventId" uuid, mail text)
    on conflict (store_id, key) do nothing returning subject`;
  return added.map(({ subject }) => subject);
};
