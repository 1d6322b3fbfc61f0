import type { ISql } from 'postgres';

/** A notification; it is added once for each key. */
export interface Notice {
  storeId: string;
  key: string;
  kind: 'order' | 'member' | 'delivery' | 'verification';
  audience: 'customer' | 'store';
  subject: string;
  /** Id of the order, member, job or verification. */
  reference: string;
  consumerId?: string | null;
  eventId: string;
}

/** No dots or slashes: mail programs turn a text that looks like a host name into a link. */
const number = /^[A-Za-z0-9#_-]{1,40}$/;
const word = /^[A-Za-z0-9_-]{1,30}$/;

/** A space and the first of the given numbers or ids that is safe in a mail; empty if there is none. */
const label = (...candidates: readonly (string | null | undefined)[]): string => {
  const quotable = candidates.find((candidate) => candidate != null && number.test(candidate));
  return quotable === undefined ? '' : ` ${quotable}`;
};

/** Anyone with a webhook token can choose ids and states, so only short plain ones are quoted. */
export const orderText = (orderNo: string | null, id: string, status: string): string =>
  `Your order${label(orderNo, id)} ${word.test(status) ? `is now ${status}` : 'has changed'}`;

export const jobText = (audience: Notice['audience'], orderId: string | null, id: string, step: string) =>
  `${audience === 'store' ? 'Delivery' : 'Your order'}${label(orderId, id)} ${step}`;

interface MailSubject extends Pick<Notice, 'kind' | 'reference' | 'subject'> {
  storeName: string;
  orderNo: string | null;
}

/** The subject line of a mail. The only part that comes from a webhook is the number of the order. */
export const mailSubject = ({ storeName, kind, reference, subject, orderNo }: MailSubject): string => {
  const name = storeName.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').slice(0, 100);
  return `${name}: ${kind === 'order' ? `Your order${label(orderNo, reference)}` : subject}`;
};

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
