import type { Notice } from '../records/change.ts';

/** No dots or slashes: mail programs turn a text that looks like a host name into a link. */
const number = /^[A-Za-z0-9#_-]{1,40}$/;
const word = /^[A-Za-z0-9_-]{1,30}$/;

/** A space and the first of the given numbers or ids that is safe in a mail; empty if there is none. */
const label = (...candidates: readonly (string | null | undefined)[]): string => {
  const found = candidates.find((candidate) => candidate != null && number.test(candidate));
  return found === undefined ? '' : ` ${found}`;
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
