import type { JobStage } from '../../providers/records.ts';
import type { MailText, Status } from './texts.ts';

const steps = {
  assigned: 'has a driver',
  started: 'is on its way',
  arrived: 'has arrived',
  completed: 'was delivered',
  cancelled: 'was cancelled',
  failed: 'could not be delivered',
};

export type Texts = typeof en;

/**
 * The texts of a language. `order` is the order number that customers know, after a space (` 1002`), or empty if there is none.
 * Apart from that, only a plain status of a webhook is quoted.
 */
export const en = {
  /** For the customer. */
  order: (order: string, status: Status): MailText => ({
    subject: `Your order${order}`,
    text: `Your order${order} ${status === undefined ? 'has changed' : `is now ${status}`}`,
  }),
  customerDelivery: (order: string, step: JobStage): string => `Your order${order} ${steps[step]}`,
  /** For the shop. */
  storeDelivery: (order: string, step: JobStage): string =>
    `${order === '' ? 'A delivery' : `Delivery of order${order}`} ${steps[step]}`,
  member: (isNew: boolean): string => (isNew ? 'A member was created' : 'A member changed'),
  verification: (status: Status): string =>
    `A verification ${status === undefined ? 'has changed' : `is now ${status}`}`,
};
