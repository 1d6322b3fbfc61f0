/** What a mail is about. */
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

/** What a mail says: `action` names what its link or code is for. */
export interface Letter {
  subject: string;
  text: string;
  action?: string;
  /** What follows the link or code. */
  end?: string;
}

/** The letters of a language. Names of users and lists come as plain words, see `plainName`. */
export type Texts = Record<Exclude<MailKind, 'invitation'>, Letter> & {
  invitation(from: string | undefined, list: string | undefined): Letter;
  /** Before a code, where no page is configured that takes it. */
  enterCode: string;
};
