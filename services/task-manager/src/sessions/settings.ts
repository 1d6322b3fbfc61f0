import type { SessionIds } from './refresh-token.ts';

export const accessSeconds = 15 * 60;
export const refreshSeconds = 30 * 24 * 3600;
/** Seconds after a refresh in which the exchanged token gets the same new token again. */
export const overlapSeconds = 30;
/** Maximum number of sessions of one user. A further one ends the oldest, so that logins do not fill the disk. */
export const maxSessions = 1000;
/** Largest difference between the clocks of two instances at which an access token of one is valid on the other. */
export const clockToleranceSeconds = 60;

/** Issuer and audience of users' access tokens; this service both signs and accepts them. */
export const issuer = 'task-manager';

/** Id of an ended session in Redis. */
export const revocationId = ({ userId, id }: SessionIds): string => `${userId}:${id}`;

export const parseRevocationId = (revoked: string): SessionIds => {
  const [userId = '', id = ''] = revoked.split(':');
  return { userId, id };
};

/**
 * SQL after `from` that finds a session that has not ended, according to the clock of the database. The arguments are
 * placeholders such as `$1` or column names, never values.
 */
export const liveSession = (userId: string, id: string): string =>
  `sessions where user_id = ${userId} and id = ${id} and expires_at > now()`;
