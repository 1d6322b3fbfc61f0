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
