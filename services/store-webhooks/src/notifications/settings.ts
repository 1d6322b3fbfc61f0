import type { Notice } from './notice.ts';
import type { NotificationSettings } from './schema.ts';
import { mailLanguages, type MailLanguage } from './texts/texts.ts';

const isOneOf = (chosen: readonly string[] | undefined, value: string): boolean =>
  chosen === undefined || chosen.includes(value);

/** Whether a store wants the mail of a change. */
export const isWanted = (
  { staff, customers }: NotificationSettings,
  { audience, kind, change }: Pick<Notice, 'audience' | 'kind' | 'change'>,
): boolean => {
  if (audience === 'store') return staff !== undefined && isOneOf(staff.events, kind);
  const chosen = kind === 'order' ? customers.orderStatuses : customers.deliveryEvents;
  return customers.enabled && isOneOf(chosen, change);
};

/** The language of a mail: that of a customer where there are texts in it (`de-AT` is `de`), else the store's. */
export const languageFor = (
  { customers }: NotificationSettings,
  customerLanguage: string | null | undefined,
): MailLanguage => {
  const [primary] = (customerLanguage ?? '').toLowerCase().split('-', 1);
  return mailLanguages.find((language) => language === primary) ?? customers.language;
};
