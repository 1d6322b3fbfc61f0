import type { Executor } from '@platform/service-kit/db';
import { and, eq, getTableColumns, gt, gte, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import { knownNetworks, users } from '../db/tables.ts';
import type { User } from './schema.ts';

/** A user with the password hash, which never leaves the service. */
export interface Account {
  user: User;
  passwordHash: string;
  /** An operator has locked it. */
  isLocked: boolean;
}

const { passwordHash, emailVerifiedAt, deletionAt, lockedAt, ...others } = getTableColumns(users);
/** Once the erasure of a user has begun, nobody logs in as that user. */
const isKept = or(isNull(deletionAt), gt(deletionAt, sql`now()`));
const columns = { ...others, emailVerified: sql<boolean>`${emailVerifiedAt} is not null` };

/** Undefined when the email is taken. Of concurrent calls with one email, one succeeds. */
export const insertUser = async (
  orm: Executor,
  user: Omit<typeof users.$inferInsert, 'createdAt'>,
): Promise<User | undefined> => {
  const [stored] = await orm
    .insert(users)
    .values({ ...user, createdAt: sql`now()` })
    .onConflictDoNothing({ target: users.email })
    .returning(columns);
  return stored;
};

export const findUser = async (orm: Executor, id: string): Promise<User | undefined> => {
  const [user] = await orm.select(columns).from(users).where(eq(users.id, id));
  return user;
};

export const findAccount = async (orm: Executor, email: string): Promise<Account | undefined> => {
  const [account] = await orm
    .select({ user: columns, passwordHash, isLocked: sql<boolean>`${lockedAt} is not null` })
    .from(users)
    .where(and(eq(users.email, email), isKept));
  return account;
};

const isStill = (account: Omit<Account, 'isLocked'>) =>
  and(eq(users.id, account.user.id), eq(users.passwordHash, account.passwordHash), isKept, isNull(lockedAt));

/** Replaces the hash of the same password, unless it was changed meanwhile. */
export const replacePasswordHash = async (orm: Executor, account: Account, to: string): Promise<void> => {
  await orm.update(users).set({ passwordHash: to }).where(isStill(account));
};

/** Whether the password of an account is still this one, and nobody has locked it; it stays so until the transaction ends. */
export const holdPassword = async (orm: Executor, account: Omit<Account, 'isLocked'>): Promise<boolean> =>
  (await orm.select({ id: users.id }).from(users).where(isStill(account)).for('no key update')).length === 1;

/** Takes the deletion of a user back, and returns whether there was one. */
export const keepUser = async (orm: Executor, userId: string): Promise<boolean> => {
  const kept = await orm
    .update(users)
    .set({ deletionAt: null })
    .where(and(eq(users.id, userId), isNotNull(users.deletionAt)))
    .returning({ id: users.id });
  return kept.length === 1;
};

/** A network is forgotten when the user has not logged in from it for this long. */
export const networkDays = 90;

/** By the clock of the database, so that an instance with a wrong clock forgets no network. */
const daysAgo = (days: number) => sql`now() - make_interval(days => ${days})`;

/** Networks of one user; one more forgets the oldest, so that logins do not fill the disk. */
const maxNetworks = 100;

/** Stores that a user has logged in from a network; an entry younger than a day stays as it is. */
export const rememberNetwork = async (orm: Executor, userId: string, network: string): Promise<void> => {
  const written = await orm
    .insert(knownNetworks)
    .values({ userId, network, seenAt: sql`now()` })
    .onConflictDoUpdate({
      target: [knownNetworks.userId, knownNetworks.network],
      set: { seenAt: sql`now()` },
      setWhere: lt(knownNetworks.seenAt, daysAgo(1)),
    })
    .returning({ network: knownNetworks.network });
  if (written.length === 0) return;
  const oldestKept = sql`
    (select seen_at from known_networks where user_id = ${userId}
      order by seen_at desc offset ${maxNetworks - 1} limit 1)`;
  await orm
    .delete(knownNetworks)
    .where(and(eq(knownNetworks.userId, userId), lt(knownNetworks.seenAt, oldestKept)));
};

/** Whether the user has logged in from the network within the last `networkDays`. */
export const hasNetwork = async (orm: Executor, email: string, network: string): Promise<boolean> => {
  const rows = await orm
    .select({ userId: knownNetworks.userId })
    .from(knownNetworks)
    .innerJoin(users, eq(users.id, knownNetworks.userId))
    .where(
      and(
        eq(users.email, email),
        eq(knownNetworks.network, network),
        gte(knownNetworks.seenAt, daysAgo(networkDays)),
      ),
    );
  return rows.length === 1;
};
