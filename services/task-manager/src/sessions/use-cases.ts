import { sessionEnded } from '@platform/auth/bearer';
import { Unauthorized, type UnknownCredential } from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import { recordEvent } from '../security/events.ts';
import type { Client } from './client.ts';
import type { ParsedToken, SessionIds } from './refresh-token.ts';
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
  { userId, id }: SessionIds,
  refreshToken: string,
): Promise<Credentials> => {
  const { token, expiresAt } = await signer.sign({ subject: userId, sessionId: id });
  return { accessToken: token, expiresAt, refreshToken };
};

/** Starts a session. If the user then has too many sessions, the oldest ends. */
export const startSession = async (
  context: Context,
  tx: Queries,
  userId: string,
  { network, browser }: Client,
): Promise<Credentials> => {
  const session = { userId, id: uuidv7() };
  const refreshToken = context.refreshTokens.create(session);
  const newSession = { ...session, refreshHash: refreshToken.hash, browser, network };
  await insertSession(tx, newSession, context.env.SESSION_MAX_DAYS);
  await keepNewestSessions(tx, userId, maxSessions);
  return credentialsOf(context, session, refreshToken.token);
};

/** Stores that the user has entered the password in this session. */
export const markPasswordEntered = updateAuthentication;

/**
 * Locks a session and its user until the transaction ends, and returns whether the password was entered in it within the last ten minutes. That
 * password is still the current one, because a change ends all other sessions. Throws Unauthorized when the session has ended.
 */
export const lockSession = async (tx: Queries, session: SessionIds): Promise<boolean> => {
  const isRecent = await isAuthenticated(tx, session);
  if (isRecent === undefined) throw sessionEnded();
  return isRecent;
};

/** Pass the returned ids to `revokeSessions` after the commit. */
export { deleteSessions };

export { isLive };

/** Tells all instances through Redis that sessions have ended, so that they refuse the access tokens if PostgreSQL cannot answer. */
export const revokeSessions = async (
  { revocation }: Context,
  userId: string,
  ids: readonly string[],
): Promise<void> => {
  await Promise.all(ids.map((id) => revocation.revoke(revocationId({ userId, id }))));
};

/**
 * Ends a session on every instance and returns whether it existed. With `refreshHash`, only if this is the valid hash of the
 * session. Changes PostgreSQL before Redis, because Redis may lose data.
 */
export const endSession = async (
  context: Context,
  { userId, id }: SessionIds,
  refreshHash?: Buffer,
): Promise<boolean> => {
  const ended = await deleteSessions(context.database.sql, userId, {
    only: id,
    refreshHash: refreshHash ?? null,
  });
  await revokeSessions(context, userId, ended);
  return ended.length === 1;
};

/** The unknown credential that a refresh token counts as if this service did not issue it. */
const unknownToken = (tokenHash: Buffer): UnknownCredential => ({
  kind: 'refresh_token',
  hash: tokenHash.toString('base64url'),
});

/**
 * Ends the session of a refresh token, even if the token was used before. A forged token ends nothing and is returned as an
 * unknown credential. Calls `beforeLookup`, which may throw, for a token that only the database can distinguish from a forged one.
 */
export const endSessionOf = async (
  context: Context,
  refreshToken: string,
  beforeLookup: () => void,
): Promise<UnknownCredential | undefined> => {
  const parsed = context.refreshTokens.read(refreshToken);
  if (parsed === undefined) return undefined;
  // A valid token that was created before the signing key was replaced is recognised by its hash.
  if (!parsed.issued) beforeLookup();
  const ended = await endSession(context, parsed.session, parsed.issued ? undefined : parsed.hash);
  return parsed.issued || ended ? undefined : unknownToken(parsed.hash);
};

/** `forgedHash` is the hash of a token that this service did not issue. */
const invalidToken = (forgedHash?: Buffer) =>
  new Unauthorized(
    'The refresh token is not valid.',
    'Bearer realm="platform"',
    'invalid_refresh_token',
    forgedHash && unknownToken(forgedHash),
  );

/** Parses a refresh token. Throws Unauthorized if it has the wrong format or belongs to a session other than `sessionId`. */
export const readRefreshToken = (
  { refreshTokens }: Context,
  refreshToken: string,
  sessionId: string | undefined,
): ParsedToken => {
  const parsed = refreshTokens.read(refreshToken);
  if (parsed === undefined || (sessionId !== undefined && sessionId !== parsed.session.id))
    throw invalidToken();
  return parsed;
};

/**
 * Exchanges the valid refresh token of a session for new credentials. Also accepts the previous token for `overlapSeconds` after
 * its exchange. Undefined for any other token; then call `refuseRefresh`.
 */
export const refreshSession = async (
  context: Context,
  tx: Queries,
  { session, hash, successors }: ParsedToken,
): Promise<Credentials | undefined> => {
  const [firstSuccessor, ...otherSuccessors] = successors();
  const to = [firstSuccessor.hash, ...otherSuccessors.map((successor) => successor.hash)] as const;
  const validHash = await replaceRefreshHash(tx, session, {
    from: hash,
    to,
    maxDays: context.env.SESSION_MAX_DAYS,
  });
  const next =
    validHash && [firstSuccessor, ...otherSuccessors].find((successor) => successor.hash.equals(validHash));
  return next && credentialsOf(context, session, next.token);
};

/**
 * Refuses a refresh token that can't be exchanged. If it was exchanged earlier, two parties have it, so its session ends; a forged
 * token ends nothing. Throws Unauthorized `invalid_refresh_token` or `refresh_token_reused`.
 */
export const refuseRefresh = async (
  context: Context,
  { session, hash, issued }: ParsedToken,
  client: Client,
): Promise<never> => {
  if (!issued) throw invalidToken(hash);
  if (!(await endSession(context, session))) throw invalidToken();
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
