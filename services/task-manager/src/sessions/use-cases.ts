import type { Database } from '@platform/service-kit/db';
import { Unauthorized } from '@platform/service-kit/problem';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import { makeRefreshToken, readRefreshToken, type SessionName } from './refresh-token.ts';
import { refreshSeconds, revocationId } from './settings.ts';
import { deleteSession, insertSession, pruneSessions, rotate } from './store.ts';

type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update' | 'delete'>;

/** What a client holds of a session. */
export interface Credentials {
  accessToken: string;
  /** When the access token expires. */
  expiresAt: Date;
  refreshToken: string;
}

const timesOf = (now: Date) => ({
  now: now.toISOString(),
  expiresAt: new Date(now.getTime() + refreshSeconds * 1000).toISOString(),
});

const issue = async (
  { signer }: Context,
  { userId, id }: SessionName,
  refreshToken: string,
): Promise<Credentials> => {
  const { token, expiresAt } = await signer.sign({ subject: userId, sessionId: id });
  return { accessToken: token, expiresAt, refreshToken };
};

/** Starts a session and forgets the user's sessions that are over. */
export const startSession = async (context: Context, orm: Executor, userId: string): Promise<Credentials> => {
  const session = { userId, id: uuidv7() };
  const refresh = makeRefreshToken(session);
  const { now, expiresAt } = timesOf(context.now());
  await pruneSessions(orm, userId, now);
  await insertSession(orm, { ...session, refreshHash: refresh.hash, createdAt: now, expiresAt });
  return issue(context, session, refresh.token);
};

/** Ends a session on every instance. The database knows first: Redis may forget. */
export const endSession = async (
  { database, revocation }: Context,
  session: SessionName,
): Promise<boolean> => {
  const ended = await deleteSession(database.orm, session);
  if (ended) await revocation.revoke(revocationId(session));
  return ended;
};

/** The session that a refresh token belongs to, whether or not the token is still good. */
export const sessionOf = (refreshToken: string): SessionName | undefined =>
  readRefreshToken(refreshToken)?.session;

const refused = (code: string, detail: string) => new Unauthorized(detail, 'Bearer realm="platform"', code);

/**
 * Exchanges a refresh token for new credentials. One that was exchanged before is in two hands, and
 * nobody can tell whose are the right ones: then the session ends. Throws Unauthorized
 * `invalid_refresh_token` or `refresh_token_reused`.
 */
export const refreshSession = async (
  context: Context,
  refreshToken: string,
): Promise<Credentials & { userId: string }> => {
  const read = readRefreshToken(refreshToken);
  if (read === undefined) throw refused('invalid_refresh_token', 'The refresh token is not valid.');
  const { session, hash } = read;
  const next = makeRefreshToken(session);
  const times = timesOf(context.now());
  const { orm } = context.database;
  if (await rotate(orm, session, { from: hash, to: next.hash, ...times })) {
    return { ...(await issue(context, session, next.token)), userId: session.userId };
  }
  await pruneSessions(orm, session.userId, times.now);
  if (await endSession(context, session)) {
    throw refused('refresh_token_reused', 'The refresh token was used before; the session has ended.');
  }
  throw refused('invalid_refresh_token', 'The refresh token is not valid.');
};
