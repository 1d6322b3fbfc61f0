/** Kinds of security events of an account. */
export const securityEventKinds = [
  'registered',
  'login',
  'login_failed',
  'password_failed',
  'reauthenticated',
  'password_changed',
  'password_reset',
  'email_change_requested',
  'email_changed',
  'email_verified',
  'exported',
  'deletion_requested',
  'deletion_undone',
  'session_ended',
  'other_sessions_ended',
  'refresh_token_reused',
  // Actions of an operator.
  'locked',
  'unlocked',
  'reset_requested',
  'all_sessions_ended',
] as const;
export type SecurityEventKind = (typeof securityEventKinds)[number];
