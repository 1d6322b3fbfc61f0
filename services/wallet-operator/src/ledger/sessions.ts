import { hash } from 'node:crypto';

/** Session tokens are kept and looked up by their hash alone. Fast on purpose: they have 256 random bits. */
export const sessionHash = (token: string): string => hash('sha256', token);

/** What moves the end of a session, in seconds; SQL or numbers. */
export interface SessionTimes {
  /** From the last accepted call that names the session. */
  ttl: number | string;
  /** From its launch. */
  longest: number | string;
}

const seconds = (count: number | string): string => `${count} * interval '1 second'`;

/** SQL: the end of a session of a launch at `createdAt` after a call at `moment`. */
export const sessionEnd = (moment: string, createdAt: string, { ttl, longest }: SessionTimes): string =>
  `least(${moment} + ${seconds(ttl)}, ${createdAt} + ${seconds(longest)})`;

/**
 * SQL: the later end that an accepted call at `moment` gives the session of this alias; null where it is less than a
 * sixtieth of `ttl` later, so that few calls write it: a session may end that much too early.
 */
export const laterEnd = (session: string, moment: string, times: SessionTimes): string => {
  const end = sessionEnd(moment, `${session}.created_at`, times);
  return `case when ${end} >= ${session}.expires_at + ${seconds(times.ttl)} / 60 then ${end} end`;
};

/** SQL: whether a session still holds at `moment`; null where there is no session. */
export const isSessionOpen = (session: string, game: string, moment: string): string =>
  `(${session}.expires_at > ${moment} and ${session}.created_at > coalesce(${game}.disabled_at, '-infinity'))`;
