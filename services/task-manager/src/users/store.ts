import type { Database } from '@platform/service-kit/db';
import { eq, getTableColumns } from 'drizzle-orm';
import { users } from '../db/tables.ts';
import type { User } from './schema.ts';

type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update'>;

/** A user with the hash of the password, which never leaves the service. */
export interface Account {
  user: User;
  passwordHash: string;
}

const { passwordHash, ...columns } = getTableColumns(users);

/** False when the email is taken; of several at once, one gets it. */
export const insertUser = async (orm: Executor, { user, passwordHash }: Account): Promise<boolean> => {
  const inserted = await orm
    .insert(users)
    .values({ ...user, passwordHash })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id });
  return inserted.length === 1;
};

export const findUser = async (orm: Executor, id: string): Promise<User | undefined> => {
  const [user] = await orm.select(columns).from(users).where(eq(users.id, id));
  return user;
};

export const findAccount = async (orm: Executor, email: string): Promise<Account | undefined> => {
  const [account] = await orm
    .select({ user: columns, passwordHash })
    .from(users)
    .where(eq(users.email, email));
  return account;
};

export const setPasswordHash = async (orm: Executor, id: string, passwordHash: string): Promise<void> => {
  await orm.update(users).set({ passwordHash }).where(eq(users.id, id));
};
