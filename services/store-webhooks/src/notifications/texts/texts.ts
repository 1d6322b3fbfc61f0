import type { JobStage } from '../../providers/records.ts';

/** The languages of the texts, as BCP 47 tags. */
export const mailLanguages = ['en', 'de'] as const;
export type MailLanguage = (typeof mailLanguages)[number];

/** What a mail says; the text without its full stop. */
export interface MailText {
  subject: string;
  text: string;
}

/** A status that the texts of a language may quote; undefined: it is not quotable. */
type Status = string | undefined;

/**
 * The texts of a language. An order is named by the number that customers know, after a space: ` 1002`, or empty where there
 * is none. No other part of a webhook but a plain status is quoted.
 */
export interface Texts {
  /** For the customer. */
  order(order: string, status: Status): MailText;
  customerDelivery(order: string, step: JobStage): string;
  /** For the shop. */
  storeDelivery(order: string, step: JobStage): string;
  member(isNew: boolean): string;
  verification(status: Status): string;
}
