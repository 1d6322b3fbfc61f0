import type { SessionName } from './refresh-token.ts';

export const accessSeconds = 15 * 60;
export const refreshSeconds = 30 * 24 * 3600;

/** Who signs and who is meant by our users' access tokens: this service, and no other. */
export const issuer = 'task-manager';

/** A session under one name, as Redis remembers it; the owner comes first. */
export const revocationId = ({ userId, id }: SessionName): string => `${userId}:${id}`;

export const sessionOfRevocation = (name: string): SessionName => {
  const [userId = '', id = ''] = name.split(':');
  return { userId, id };
};
