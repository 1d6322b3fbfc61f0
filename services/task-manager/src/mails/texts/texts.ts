/** The kinds of mails. */
export const mailKinds = [
  'invitation',
  'password_reset',
  'email_verification',
  'email_change',
  'password_changed',
  'email_changed',
  'session_ended',
  'deletion_requested',
  'deletion_undone',
] as const;
export type MailKind = (typeof mailKinds)[number];

/** The languages of users and of their mails, as BCP 47 tags. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** Text of a mail. `action` tells the recipient what to do with the link or code. */
export interface MailText {
  subject: string;
  text: string;
  action?: string;
  /** Paragraph after the link or code. */
  end?: string;
}

/** The mails in one language. Names of users and lists are passed as plain words, see `plainName`. */
export type Texts = Record<Exclude<MailKind, 'invitation'>, MailText> & {
  invitation(from: string | undefined, list: string | undefined): MailText;
  /** Precedes a code when no page for it is configured. */
  enterCode: string;
};
