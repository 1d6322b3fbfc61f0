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
import type { SecurityEventKind } from '../security/event-kinds.ts';
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
  lockUnchangedPassword,
  insertUser,
  cancelDeletion,
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

type WithClient<Input> = Input & Client;

const unauthorized = (detail: string, code?: string) =>
  new Unauthorized(detail, 'Bearer realm="platform"', code);

/** 409: another user has the address. */
export const emailTaken = () => new Conflict('email_taken', 'A user with this email address exists already.');

/** Throws ValidationFailed for a password that is known from a leak. */
export const requireUnleakedPassword = async (
  { pwnedPasswords }: Pick<Context, 'pwnedPasswords'>,
  password: string,
  field: string,
): Promise<void> => {
  if (await pwnedPasswords?.has(password)) throw new ValidationFailed({ [field]: ['is known from a leak'] });
};

/**
 * Creates a user and their first session in one transaction. Throws Conflict `email_taken`, and TooManyRequests before it
 * hashes the password.
 */
export const register = async (
  context: Context,
  { password, address, network, browser, ...input }: WithClient<Registration>,
): Promise<LoggedIn> => {
  await context.registrationLimit?.({ email: input.email, address });
  await requireUnleakedPassword(context, password, 'password');
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

/** Returns whether the user must confirm the address before a session can start or be refreshed. */
const needsVerification = ({ env }: Context, { emailVerified }: User): boolean =>
  env.REQUIRE_VERIFIED_EMAIL === 'login' && !emailVerified;

const notVerified = () =>
  new Problem({
    status: 403,
    code: 'email_not_verified',
    detail: 'Confirm your email address first: the code is in the mail that was sent to it.',
  });

const accountLocked = () =>
  new Problem({
    status: 403,
    code: 'account_locked',
    detail: 'An operator has locked this account; contact the operator.',
  });

/**
 * Returns the account with this email if the password is right, otherwise undefined. A wrong password and an unknown email
 * take the same work. A wrong password is recorded as the event `failure` after the response, whose time would otherwise reveal
 * whether the account exists. Throws TooManyRequests after too many failures.
 */
export const comparePassword = async (
  { loginPasswords, throttle, log, database: { sql } }: Context,
  { email, password, address, ...client }: WithClient<Login>,
  failure: SecurityEventKind,
) => {
  let storedAccount: Account | undefined;
  const isKnown = () => hasNetwork(sql, email, client.network);
  const account = await throttle.attempt({ email, address, isKnown }, async (admit) => {
    const admitAndReadHash = async () => {
      await admit();
      storedAccount = await findAccount(sql, email);
      return storedAccount?.passwordHash;
    };
    const verdict = await loginPasswords.verify(admitAndReadHash, password, { email, address });
    return storedAccount !== undefined && verdict.matches ? { ...storedAccount, ...verdict } : undefined;
  });
  const userId = account === undefined && storedAccount?.user.id;
  if (userId)
    setImmediate(() => {
      runOutsideRequest(() => recordEvent(sql, userId, failure, client)).catch((err: unknown) =>
        log.warn({ err }, 'could not record a failed login'),
      );
    });
  return account;
};

/**
 * Starts a session and cancels a requested deletion of the account. A wrong password and an unknown email throw the same
 * Unauthorized `invalid_credentials` after the same work. With the right password, throws 403 `account_locked` if an operator
 * has locked the account, and 403 `email_not_verified`, after queueing another verification mail, if the address must be
 * confirmed first. Throws TooManyRequests after too many failures.
 */
export const login = async (context: Context, credentials: WithClient<Login>): Promise<LoggedIn> => {
  const { email, password, address, network } = credentials;
  const { loginPasswords, mails } = context;
  const { sql } = context.database;
  const account = await comparePassword(context, credentials, 'login_failed');
  if (account === undefined) throw unauthorized('The email or the password is wrong.', 'invalid_credentials');
  if (account.isLocked) throw accountLocked();
  const { user } = account;
  let { passwordHash } = account;
  if (account.rehash) {
    // Hashes the same password with the current parameters.
    passwordHash = await loginPasswords.hash(password, { email, address });
    await replacePasswordHash(sql, account, passwordHash);
  }
  await rememberNetwork(sql, user.id, network);
  if (needsVerification(context, user)) {
    await sql.begin((tx) => mails?.queue(tx, { kind: 'email_verification', recipient: email }));
    throw notVerified();
  }
  const session = await sql.begin(async (tx) => {
    if (!(await lockUnchangedPassword(tx, { user, passwordHash }))) return undefined;
    await recordEvent(tx, user.id, 'login', credentials);
    if (await cancelDeletion(tx, user.id)) {
      await recordEvent(tx, user.id, 'deletion_undone', credentials);
      await mails?.queue(tx, { kind: 'deletion_undone', recipient: email });
    }
    return startSession(context, tx, user.id, credentials);
  });
  // Meanwhile the password was changed or another login has rehashed it: compare it again.
  return session === undefined ? login(context, credentials) : { user, ...session };
};

export { lockUnchangedPassword, profiles };

/** The user of a session. Throws Unauthorized when the user no longer exists. */
export const getSessionUser = async (sql: Queries, userId: string): Promise<User> => {
  const user = await findUser(sql, userId);
  if (user === undefined) throw unauthorized('The user no longer exists.');
  return user;
};

/**
 * Exchanges a refresh token for new credentials in one transaction, so that the token stays valid after a failure. An access
 * token that is sent with it must belong to the same session, but may be expired. For `beforeLookup` see `endSessionOf`. Throws
 * Unauthorized.
 */
export const refresh = async (
  context: Context,
  tokens: WithClient<{ refreshToken: string | undefined; accessToken: string | undefined }>,
  beforeLookup: () => void,
): Promise<LoggedIn> => {
  const { refreshToken, accessToken = '' } = tokens;
  if (refreshToken === undefined) throw unauthorized('The refresh cookie is missing.');
  const parsed = readRefreshToken(context, refreshToken, await context.signer.sessionOf(accessToken));
  if (!parsed.issued) beforeLookup();
  const { sql } = context.database;
  const lookup = {
    name: 'refresh token',
    params: { hash: parsed.hash.toString('hex') },
    caller: parsed.session.userId,
  };
  const refreshed = await oneAtATime(sql, lookup, () =>
    sql.begin(async (tx) => {
      const credentials = await refreshSession(context, tx, parsed);
      if (credentials === undefined) return undefined;
      const user = await getSessionUser(tx, parsed.session.userId);
      if (needsVerification(context, user)) throw notVerified();
      return { user, ...credentials };
    }),
  );
  return refreshed ?? refuseRefresh(context, parsed, tokens);
};

interface SessionCredentials {
  /** The session of a valid access token. */
  current: { userId: string; id: string } | undefined;
  refreshToken: string | undefined;
  /** Called before a token that this service did not issue is looked up. Throws when the caller has sent too many of them. */
  beforeLookup: () => void;
}

/**
 * Ends the sessions of the access token and of the refresh token. Returns the refresh token if this service did not issue it; it
 * counts as an unknown credential.
 */
export const logout = async (
  context: Context,
  { current, refreshToken, beforeLookup }: SessionCredentials,
): Promise<UnknownCredential | undefined> => {
  if (current !== undefined) await endSession(context, current);
  return refreshToken === undefined ? undefined : endSessionOf(context, refreshToken, beforeLookup);
};

/** Ends the wait of a network after failed logins. With an email, also the wait of that account. */
export const liftLoginWait = async (
  { throttle, log }: Context,
  operator: string,
  wait: LoginWait,
): Promise<void> => {
  await throttle.lift(wait);
  const { address, email } = wait;
  log.info({ operator, address, account: email !== undefined }, 'login wait lifted');
};
