import type { HashClient } from '@platform/auth/password';
import type { Executor } from '@platform/service-kit/db';
import { networkOf } from '@platform/service-kit/network';
import { Conflict } from '@platform/service-kit/problem';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import type { User } from './schema.ts';
import {
  findAccount,
  findUser,
  hasNetwork,
  insertUser,
  rememberNetwork,
  setPasswordHash,
  type Account,
} from './queries.ts';

/** Throws Conflict `email_taken`. */
export const createUser = async (
  orm: Executor,
  input: { email: string; name: string | null; passwordHash: string },
): Promise<User> => {
  const user = await insertUser(orm, { ...input, id: uuidv7() });
  if (user !== undefined) return user;
  throw new Conflict('email_taken', 'There is a user with this email address already.');
};

export const getUser = (orm: Executor, id: string): Promise<User | undefined> => findUser(orm, id);

/** The user with an email, with the password hash. */
export const getAccount = ({ database }: Context, email: string): Promise<Account | undefined> =>
  findAccount(database.orm, email);

/** Stores the same password under today's hash parameters. */
export const rehashPassword = async (
  { database, loginPasswords }: Context,
  id: string,
  password: string,
  client: HashClient,
): Promise<void> => setPasswordHash(database.orm, id, await loginPasswords.hash(password, client));

/** Remembers the network that a user has logged in from. */
export const rememberLogin = (orm: Executor, userId: string, address: string | undefined): Promise<void> =>
  rememberNetwork(orm, userId, networkOf(address));

/** Whether a user with this email has logged in from the network of this address. */
export const isKnownFrom = (
  { database }: Context,
  email: string,
  address: string | undefined,
): Promise<boolean> => hasNetwork(database.orm, email, networkOf(address));
