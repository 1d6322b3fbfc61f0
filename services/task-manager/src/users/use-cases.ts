import type { Database } from '@platform/service-kit/db';
import { Conflict } from '@platform/service-kit/problem';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../context.ts';
import type { User } from './schema.ts';
import { findAccount, findUser, insertUser, setPasswordHash, type Account } from './store.ts';

type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update'>;

/** Throws Conflict `email_taken`. */
export const createUser = async (
  { now }: Context,
  orm: Executor,
  { passwordHash, ...who }: { email: string; name: string | null; passwordHash: string },
): Promise<User> => {
  const user = { ...who, id: uuidv7(), createdAt: now().toISOString() };
  if (await insertUser(orm, { user, passwordHash })) return user;
  throw new Conflict('email_taken', 'There is a user with this email address already.');
};

export const userOf = ({ database }: Context, id: string): Promise<User | undefined> =>
  findUser(database.orm, id);

/** What a login is compared with. */
export const accountOf = ({ database }: Context, email: string): Promise<Account | undefined> =>
  findAccount(database.orm, email);

/** Stores the same password under today's hash parameters. */
export const rehash = async ({ database, passwords }: Context, id: string, password: string): Promise<void> =>
  setPasswordHash(database.orm, id, await passwords.hash(password));
