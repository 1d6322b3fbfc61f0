import { sessionEnded } from '@platform/auth/bearer';
import { Unauthorized, type UnknownCredential } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import { recordEvent } from '../security/events.ts';
import type { Client } from './client.ts';
import type { ReadToken, SessionName } from './refresh-token.ts';
import { maxSessions, revocationId } from './settings.ts';
import {
  deleteSessions,
  findEmail,
  insertSession,
  isAuthenticated,
  isLive,
  keepNewestSessions,
  replaceRefreshHash,
  updateAuthentication,
} from './queries.ts';

/** The tokens of a session. */
export interface Credentials {
  accessToken: string;
  /** When the access token expires. */
  expiresAt: Date;
  refreshToken: string;
}

const credentialsOf = async (
  { signer }: Context,
  { userId, id }: SessionName,
  refreshToken: string,
): Promise<Credentials> => {
  const { token, expiresAt } = await signer.sign({ subject: userId, sessionId: id });
  return { accessToken: token, expiresAt, refreshToken };
};

/** Starts a session. The oldest of a user who has too many ends. */
export const startSession = async (
  context: Context,
  tx: Queries,
  userId: string,
  { network, browser }: Client,
): Promise<Credentials> => {
  const session = { userId, id: uuidv7() };
  const refresh = context.refreshTokens.create(session);
  const stored = { ...session, refreshHash: refresh.hash, browser, network };
  await insertSession(tx, stored, context.env.SESSION_MAX_DAYS);
  await keepNewestSessions(tx, userId, maxSessions);
  return credentialsOf(context, session, refresh.token);
};

/** Notes that the user has given the password in this session. */
export const confirmSession = updateAuthentication;

/**
 * Whether the password was given in this session within ten minutes, and is still the password, because a change ends the
 * other sessions. The session cannot end before the transaction does. Throws Unauthorized when it has ended. Call it with the
 * row of the user locked.
 */
export const holdSession = async (tx: Queries, session: SessionName): Promise<boolean> => {
  const isRecent = await isAuthenticated(tx, session);
  if (isRecent === undefined) throw sessionEnded();
  return isRecent;
};

/** The ids that it returns are for `revokeSessions` when the transaction is committed. */
export { deleteSessions };

export { isLive };

/** Tells all instances that sessions have ended, for the time in which PostgreSQL cannot. */
export const revokeSessions = async (
  { revocation }: Context,
  userId: string,
  ids: readonly string[],
): Promise<void> => {
  await Promise.all(ids.map((id) => revocation.revoke(revocationId({ userId, id }))));
};

/**
 * Ends a session on every instance and returns whether there was one. With `refreshHash`, only if
 * that is the session's valid one. PostgreSQL is changed before Redis, because Redis may forget.
 */
export const endSession = async (
  context: Context,
  { userId, id }: SessionName,
  refreshHash?: Buffer,
): Promise<boolean> => {
  const ended = await deleteSessions(context.database.sql, userId, {
    only: id,
    refreshHash: refreshHash ?? null,
  });
  await revokeSessions(context, userId, ended);
  return ended.length === 1;
};

/** A refresh token that was not issued counts as an unknown credential. */
const unknownToken = (tokenHash: Buffer): UnknownCredential => ({
  kind: 'refresh_token',
  hash: tokenHash.toString('base64url'),
});

/**
 * Ends the session of a refresh token, valid or used before. A forged token ends nothing and is
 * returned as an unknown credential. `beforeLookup` is called, and may throw, for a token that only the
 * database can tell from a forged one.
 */
export const endSessionOf = async (
  context: Context,
  refreshToken: string,
  beforeLookup: () => void,
): Promise<UnknownCredential | undefined> => {
  const read = context.refreshTokens.read(refreshToken);
  if (read === undefined) return undefined;
  // A valid token made before the signing key was replaced is recognised by its hash.
  if (!read.issued) beforeLookup();
  const ended = await endSession(context, read.session, read.issued ? undefined : read.hash);
  return read.issued || ended ? undefined : unknownToken(read.hash);
};

/** `forged` is the hash of a token that was not issued. */
const invalid = (forged?: Buffer) =>
  new Unauthorized(
    'The refresh token is not valid.',
    'Bearer realm="platform"',
    'invalid_refresh_token',
    forged && unknownToken(forged),
  );

/** What a refresh token says. Throws Unauthorized for a text that is none, and for another session's. */
export const readRefreshToken = (
  { refreshTokens }: Context,
  refreshToken: string,
  sessionId: string | undefined,
): ReadToken => {
  const read = refreshTokens.read(refreshToken);
  if (read === undefined || (sessionId !== undefined && sessionId !== read.session.id)) throw invalid();
  return read;
};

/**
 * Exchanges the valid refresh token of a session, or the one before it within `overlapSeconds` of that
 * exchange, for new credentials. Undefined for any other token: `refuseRefresh` says why.
 */
export const refreshSession = async (
  context: Context,
  tx: Queries,
  { session, hash, successors }: ReadToken,
): Promise<Credentials | undefined> => {
  const [own, ...others] = successors();
  const to = [own.hash, ...others.map((other) => other.hash)] as const;
  const valid = await replaceRefreshHash(tx, session, {
    from: hash,
    to,
    maxDays: context.env.SESSION_MAX_DAYS,
  });
  const next = valid && [own, ...others].find((successor) => successor.hash.equals(valid));
  return next && credentialsOf(context, session, next.token);
};

/**
 * Refuses a refresh token that can't be exchanged. One that was exchanged earlier is in the hands of two
 * parties, so its session ends; a forged one ends nothing. Throws Unauthorized `invalid_refresh_token`
 * or `refresh_token_reused`.
 */
export const refuseRefresh = async (
  context: Context,
  { session, hash, issued }: ReadToken,
  client: Client,
): Promise<never> => {
  if (!issued) throw invalid(hash);
  if (!(await endSession(context, session))) throw invalid();
  const recipient = await findEmail(context.database.sql, session.userId);
  if (recipient !== undefined)
    await context.database.sql.begin(async (tx) => {
      await recordEvent(tx, session.userId, 'refresh_token_reused', client);
      await context.mails?.queue(tx, { kind: 'session_ended', recipient });
    });
  throw new Unauthorized(
    'The refresh token was used before; the session has ended.',
    'Bearer realm="platform"',
    'refresh_token_reused',
  );
};
