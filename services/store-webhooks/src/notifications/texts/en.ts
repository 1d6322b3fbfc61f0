import type { Texts } from './texts.ts';

const steps = {
  assigned: 'has a driver',
  started: 'is on its way',
  arrived: 'has arrived',
  completed: 'was delivered',
  cancelled: 'was cancelled',
  failed: 'could not be delivered',
};

export const en: Texts = {
  order: (order, status) => ({
    subject: `Your order${order}`,
    text: `Your order${order} ${status === undefined ? 'has changed' : `is now ${status}`}`,
  }),
  customerDelivery: (order, step) => `Your order${order} ${steps[step]}`,
  storeDelivery: (order, step) =>
    `${order === '' ? 'A delivery' : `Delivery of order${order}`} ${steps[step]}`,
  member: (isNew) => (isNew ? 'A member was created' : 'A member changed'),
  verification: (status) => `A verification ${status === undefined ? 'has changed' : `is now ${status}`}`,
};
