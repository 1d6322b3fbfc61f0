import { Unauthorized } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import {
  endSession,
  refreshSession,
  sessionOf,
  startSession,
  type Credentials,
} from '../sessions/use-cases.ts';
import type { User } from '../users/schema.ts';
import { accountOf, createUser, rehash, userOf } from '../users/use-cases.ts';
import type { Login, Registration } from './schema.ts';

/** A user and what shows that it is them. */
export interface LoggedIn extends Credentials {
  user: User;
}

const unauthorized = (detail: string, code?: string) =>
  new Unauthorized(detail, 'Bearer realm="platform"', code);

/** Creates a user and their first session, both or neither. Throws Conflict `email_taken`. */
export const register = async (context: Context, { password, ...who }: Registration): Promise<LoggedIn> => {
  const passwordHash = await context.passwords.hash(password);
  return context.database.orm.transaction(async (transaction) => {
    const user = await createUser(context, transaction, { ...who, passwordHash });
    return { user, ...(await startSession(context, transaction, user.id)) };
  });
};

/**
 * Starts a session. Wrong password and unknown email are one answer, Unauthorized
 * `invalid_credentials`, after the same work. `address` is the client's.
 */
export const login = async (
  context: Context,
  { email, password, address }: Login & { address: string | undefined },
): Promise<LoggedIn> => {
  const { database, passwords, throttle } = context;
  const known = await throttle({ email, address }, async (admit) => {
    let account: Awaited<ReturnType<typeof accountOf>>;
    const stored = async () => {
      account = await accountOf(context, email);
      return account?.passwordHash;
    };
    const verdict = await passwords.verify(stored, password, admit);
    return account !== undefined && verdict.matches ? { ...account, ...verdict } : undefined;
  });
  if (known === undefined) throw unauthorized('The email or the password is wrong.', 'invalid_credentials');
  if (known.rehash) await rehash(context, known.user.id, password);
  return { user: known.user, ...(await startSession(context, database.orm, known.user.id)) };
};

/** The user that a session belongs to. */
export const whoIs = async (context: Context, userId: string): Promise<User> => {
  const user = await userOf(context, userId);
  if (user === undefined) throw unauthorized('The user is gone.');
  return user;
};

export const refresh = async (context: Context, token: string | undefined): Promise<LoggedIn> => {
  if (token === undefined) throw unauthorized('The refresh cookie is missing.');
  const { userId, ...credentials } = await refreshSession(context, token);
  return { user: await whoIs(context, userId), ...credentials };
};

interface Held {
  /** The session of a valid access token. */
  current: { userId: string; id: string } | undefined;
  refreshToken: string | undefined;
}

/** Ends whatever sessions the caller holds something of. */
export const logout = async (context: Context, { current, refreshToken }: Held): Promise<void> => {
  const other = refreshToken === undefined ? undefined : sessionOf(refreshToken);
  if (current !== undefined) await endSession(context, current);
  if (other !== undefined && other.id !== current?.id) await endSession(context, other);
};
