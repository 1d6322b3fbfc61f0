import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import {
  Conflict,
  Problem,
  Unauthorized,
  ValidationFailed,
  type UnknownCredential,
} from '@platform/service-kit/problem';
import type { Queries } from '@platform/service-kit/record';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import type { SecurityEventKind } from '../security/kinds.ts';
import { recordEvent } from '../security/events.ts';
import type { Client } from '../sessions/client.ts';
import {
  endSession,
  endSessionOf,
  readRefreshToken,
  refreshSession,
  refuseRefresh,
  startSession,
  type Credentials,
} from '../sessions/use-cases.ts';
import {
  findAccount,
  findUser,
  hasNetwork,
  holdPassword,
  insertUser,
  keepUser,
  profiles,
  rememberNetwork,
  replacePasswordHash,
  type Account,
} from './queries.ts';
import type { Login, LoginWait, Registration, User } from './schema.ts';

/** A user with the tokens of a session. */
export interface LoggedIn extends Credentials {
  user: User;
}

/** Input with the client that sent it. */
type From<Input> = Input & Client;

const unauthorized = (detail: string, code?: string) =>
  new Unauthorized(detail, 'Bearer realm="platform"', code);

/** 409 for an address that another user has. */
export const emailTaken = () => new Conflict('email_taken', 'A user with this email address exists already.');

/** Throws ValidationFailed for a password that is known from a leak. */
export const requireUnknownPassword = async (
  { pwnedPasswords }: Pick<Context, 'pwnedPasswords'>,
  password: string,
  field: string,
): Promise<void> => {
  if (await pwnedPasswords?.has(password)) throw new ValidationFailed({ [field]: ['is known from a leak'] });
};

/**
 * Creates a user and their first session, both or neither. Throws Conflict `email_taken`, and
 * TooManyRequests before anything is hashed.
 */
export const register = async (
  context: Context,
  { password, address, network, browser, ...input }: From<Registration>,
): Promise<LoggedIn> => {
  await context.registrationLimit?.({ email: input.email, address });
  await requireUnknownPassword(context, password, 'password');
  const passwordHash = await context.registrationPasswords.hash(password, {
    email: input.email,
    address,
  });
  const { database, mails } = context;
  return database.sql.begin(async (tx) => {
    const user = await insertUser(tx, { ...input, id: uuidv7(), passwordHash });
    if (user === undefined) throw emailTaken();
    const client = { address, network, browser };
    await rememberNetwork(tx, user.id, network);
    await recordEvent(tx, user.id, 'registered', client);
    await mails?.queue(tx, { kind: 'email_verification', recipient: user.email });
    return { user, ...(await startSession(context, tx, user.id, client)) };
  });
};

/** Whether a user may not go on before the address is confirmed. */
const needsVerification = ({ env }: Context, { emailVerified }: User): boolean =>
  env.REQUIRE_VERIFIED_EMAIL === 'login' && !emailVerified;

const unverified = () =>
  new Problem({
    status: 403,
    code: 'email_not_verified',
    detail: 'Confirm your email address first: the code is in the mail that was sent to it.',
  });

const locked = () =>
  new Problem({
    status: 403,
    code: 'account_locked',
    detail: 'An operator has locked this account; contact the operator.',
  });

/**
 * The account with an email, if this is its password; a wrong password and an unknown email take the same work. A wrong one
 * is remembered as `failure` in the background, so that the time of the answer does not show whether there is an account.
 * Throws TooManyRequests after too many failures.
 */
export const comparePassword = async (
  { loginPasswords, throttle, log, database: { sql } }: Context,
  { email, password, address, ...place }: From<Login>,
  failure: SecurityEventKind,
) => {
  let found: Account | undefined;
  const isKnown = () => hasNetwork(sql, email, place.network);
  const account = await throttle.attempt({ email, address, isKnown }, async (admit) => {
    const stored = async () => {
      await admit();
      found = await findAccount(sql, email);
      return found?.passwordHash;
    };
    const verdict = await loginPasswords.verify(stored, password, { email, address });
    return found !== undefined && verdict.matches ? { ...found, ...verdict } : undefined;
  });
  const userId = account === undefined && found?.user.id;
  if (userId)
    runOutsideRequest(() => recordEvent(sql, userId, failure, place)).catch((err: unknown) =>
      log.warn({ err }, 'a failed login was not recorded'),
    );
  return account;
};

/**
 * Starts a session, which takes a deletion of the account back, or has the mail sent that confirms the address where that must come first (403 `email_not_verified`).
 * An account that an operator has locked is 403 `account_locked`, for the right password alone.
 * A wrong password and an unknown email give the same answer, Unauthorized
 * `invalid_credentials`, after the same work. Throws TooManyRequests after too many failures.
 */
export const login = async (context: Context, credentials: From<Login>): Promise<LoggedIn> => {
  const { email, password, address, network } = credentials;
  const { loginPasswords, mails } = context;
  const { sql } = context.database;
  const account = await comparePassword(context, credentials, 'login_failed');
  if (account === undefined) throw unauthorized('The email or the password is wrong.', 'invalid_credentials');
  if (account.isLocked) throw locked();
  const { user } = account;
  let { passwordHash } = account;
  if (account.rehash) {
    // The same password under today's hash parameters.
    passwordHash = await loginPasswords.hash(password, { email, address });
    await replacePasswordHash(sql, account, passwordHash);
  }
  await rememberNetwork(sql, user.id, network);
  if (needsVerification(context, user)) {
    await sql.begin((tx) => mails?.queue(tx, { kind: 'email_verification', recipient: email }));
    throw unverified();
  }
  const session = await sql.begin(async (tx) => {
    if (!(await holdPassword(tx, { user, passwordHash }))) return undefined;
    await recordEvent(tx, user.id, 'login', credentials);
    if (await keepUser(tx, user.id)) {
      await recordEvent(tx, user.id, 'deletion_undone', credentials);
      await mails?.queue(tx, { kind: 'deletion_undone', recipient: email });
    }
    return startSession(context, tx, user.id, credentials);
  });
  // The password was changed, perhaps because it was stolen, or another login has hashed it anew: compare it again.
  return session === undefined ? login(context, credentials) : { user, ...session };
};

export { holdPassword, profiles };

/** The user that a session belongs to. */
export const getSessionUser = async (sql: Queries, userId: string): Promise<User> => {
  const user = await findUser(sql, userId);
  if (user === undefined) throw unauthorized('The user no longer exists.');
  return user;
};

/**
 * Exchanges a refresh token for new credentials in one transaction, so that a failure leaves the token
 * as it was. An access token that comes with it must be of the same session, expired or not.
 * `beforeLookup` as in `endSessionOf`. Throws Unauthorized.
 */
export const refresh = async (
  context: Context,
  tokens: From<{ refreshToken: string | undefined; accessToken: string | undefined }>,
  beforeLookup: () => void,
): Promise<LoggedIn> => {
  const { refreshToken, accessToken = '' } = tokens;
  if (refreshToken === undefined) throw unauthorized('The refresh cookie is missing.');
  const read = readRefreshToken(context, refreshToken, await context.signer.sessionOf(accessToken));
  if (!read.issued) beforeLookup();
  const { sql } = context.database;
  const turn = {
    name: 'refresh token',
    params: { hash: read.hash.toString('hex') },
    caller: read.session.userId,
  };
  const refreshed = await oneAtATime(sql, turn, () =>
    sql.begin(async (tx) => {
      const credentials = await refreshSession(context, tx, read);
      if (credentials === undefined) return undefined;
      const user = await getSessionUser(tx, read.session.userId);
      if (needsVerification(context, user)) throw unverified();
      return { user, ...credentials };
    }),
  );
  return refreshed ?? refuseRefresh(context, read, tokens);
};

interface SessionCredentials {
  /** The session of a valid access token. */
  current: { userId: string; id: string } | undefined;
  refreshToken: string | undefined;
  /** Throws when this caller may not have unknown tokens looked up. */
  beforeLookup: () => void;
}

/**
 * Ends the sessions that the caller has credentials of. Returns a refresh token that was not issued,
 * which counts as an unknown credential.
 */
export const logout = async (
  context: Context,
  { current, refreshToken, beforeLookup }: SessionCredentials,
): Promise<UnknownCredential | undefined> => {
  if (current !== undefined) await endSession(context, current);
  return refreshToken === undefined ? undefined : endSessionOf(context, refreshToken, beforeLookup);
};

/** Ends the wait after failed logins of a network and, with an email, of that account. */
export const liftLoginWait = async (
  { throttle, log }: Context,
  operator: string,
  wait: LoginWait,
): Promise<void> => {
  await throttle.lift(wait);
  const { address, email } = wait;
  log.info({ operator, address, account: email !== undefined }, 'login wait lifted');
};
