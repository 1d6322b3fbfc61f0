import type { Texts } from './en.ts';

const steps = {
  assigned: 'hat einen Fahrer',
  started: 'ist unterwegs',
  arrived: 'ist angekommen',
  completed: 'wurde zugestellt',
  cancelled: 'wurde storniert',
  failed: 'konnte nicht zugestellt werden',
};

export const de: Texts = {
  order: (order, status) => ({
    subject: `Ihre Bestellung${order}`,
    text: `Ihre Bestellung${order} ${status === undefined ? 'hat sich geändert' : `hat jetzt den Status ${status}`}`,
  }),
  customerDelivery: (order, step) => `Ihre Bestellung${order} ${steps[step]}`,
  storeDelivery: (order, step) =>
    `${order === '' ? 'Eine Lieferung' : `Die Lieferung der Bestellung${order}`} ${steps[step]}`,
  member: (isNew) => (isNew ? 'Ein Mitglied wurde angelegt' : 'Ein Mitglied hat sich geändert'),
  verification: (status) =>
    status === undefined
      ? 'Eine Identitätsprüfung hat sich geändert'
      : `Eine Identitätsprüfung hat jetzt den Status ${status}`,
};
