import type { SessionName } from './refresh-token.ts';

export const accessSeconds = 15 * 60;
export const refreshSeconds = 30 * 24 * 3600;
/** How long after a refresh the token that was exchanged gets the same new token again. */
export const overlapSeconds = 30;
/** Sessions of one user; one more ends the oldest, so that logins do not fill the disk. */
export const maxSessions = 1000;
/** How far the clocks of two instances may differ: an access token of the one is valid on the other. */
export const clockToleranceSeconds = 60;

/** Issuer and audience of our users' access tokens: the service accepts the tokens that it signs. */
export const issuer = 'task-manager';

/** A session's id in Redis. */
export const revocationId = ({ userId, id }: SessionName): string => `${userId}:${id}`;

export const sessionOfRevocation = (revoked: string): SessionName => {
  const [userId = '', id = ''] = revoked.split(':');
  return { userId, id };
};

/**
 * SQL after `from` that finds a session unless it has ended, by the clock of the database. Takes placeholders such as `$1`
 * or names of columns, never values.
 */
export const liveSession = (userId: string, id: string): string =>
  `sessions where user_id = ${userId} and id = ${id} and expires_at > now()`;
