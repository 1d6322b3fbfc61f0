import { hash } from 'node:crypto';

/** The hash by which session tokens are stored and found. A fast hash is safe, because tokens have 256 random bits. */
export const sessionHash = (token: string): string => hash('sha256', token);

/** Lifetimes of sessions in seconds, as numbers or SQL. */
export interface SessionTimes {
  /** From the last accepted callback that names the session. */
  ttl: number | string;
  /** From the launch. */
  longest: number | string;
}

const seconds = (count: number | string): string => `${count} * interval '1 second'`;

/** SQL: the end of a session that was launched at `createdAt`, after an accepted callback at `moment`. */
export const sessionEnd = (moment: string, createdAt: string, { ttl, longest }: SessionTimes): string =>
  `least(${moment} + ${seconds(ttl)}, ${createdAt} + ${seconds(longest)})`;

/**
 * SQL: the new end of the session with this alias after an accepted callback at `moment`. Null when it is less than a sixtieth
 * of `ttl` later, so that few callbacks write it; a session may therefore end that much too early.
 */
export const laterEnd = (session: string, moment: string, times: SessionTimes): string => {
  const end = sessionEnd(moment, `${session}.created_at`, times);
  return `case when ${end} >= ${session}.expires_at + ${seconds(times.ttl)} / 60 then ${end} end`;
};

/** SQL: whether a session is valid at `moment`; null when there is no session. */
export const isSessionOpen = (session: string, game: string, moment: string): string =>
  `(${session}.expires_at > ${moment} and ${session}.created_at > coalesce(${game}.disabled_at, '-infinity'))`;
