/** The languages of the texts, as BCP 47 tags. */
export const mailLanguages = ['en', 'de'] as const;
export type MailLanguage = (typeof mailLanguages)[number];

/** Subject and text of a mail; the text has no full stop at the end. */
export interface MailText {
  subject: string;
  text: string;
}

/** A status that the texts of a language may quote; undefined: it is not quotable. */
export type Status = string | undefined;
