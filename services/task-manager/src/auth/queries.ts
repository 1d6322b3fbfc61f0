import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { isNotDueForErasure } from '../db/tables.ts';
import { User, type Registration } from './schema.ts';

/** A user with its password hash. The hash never leaves the service. */
export interface Account {
  user: User;
  passwordHash: string;
  /** Whether an operator has locked the account. */
  isLocked: boolean;
}

interface NewUser extends Omit<Registration, 'password'> {
  id: string;
  passwordHash: string;
}

/** Maps rows of `users` to the JSON of `User`. */
export const profiles = jsonTable('users', Object.keys(User.shape), {
  emailVerified: 'email_verified_at is not null',
});

const parse = (json: string | undefined): User | undefined =>
  json === undefined ? undefined : (JSON.parse(json) as User);

/** Returns undefined when the email is taken. Of concurrent calls with the same email, one succeeds. */
export const insertUser = async (
  tx: Queries,
  { id, email, name, language, passwordHash }: NewUser,
): Promise<User | undefined> => {
  const [row] = await tx<JsonRow[]>`
    insert into users (id, email, name, language, password_hash, created_at)
    values (${id}, ${email}, ${name}, ${language}, ${passwordHash}, now())
    on conflict (email) do nothing returning ${tx.unsafe(profiles.json)}`;
  return parse(row?.json);
};

export const findUser = async (sql: Queries, id: string): Promise<User | undefined> =>
  parse(await profiles.find(sql, { id }, false));

export const findAccount = async (sql: Queries, email: string): Promise<Account | undefined> => {
  const [row] = await sql<(Omit<Account, 'user'> & JsonRow)[]>`
    select ${sql.unsafe(profiles.json)}, password_hash as "passwordHash", locked_at is not null as "isLocked"
    from users where email = ${email} and ${sql.unsafe(isNotDueForErasure)}`;
  return row && { ...row, user: JSON.parse(row.json) as User };
};

/** SQL condition: the password is unchanged, and the account is neither locked nor due for erasure. */
const isUnchanged = (sql: Queries, { user: { id }, passwordHash }: Omit<Account, 'isLocked'>) => sql`
  id = ${id} and password_hash = ${passwordHash} and locked_at is null and ${sql.unsafe(isNotDueForErasure)}`;

/** Replaces the hash of the same password, unless it was changed meanwhile. */
export const replacePasswordHash = async (sql: Queries, account: Account, newHash: string): Promise<void> => {
  await sql`update users set password_hash = ${newHash} where ${isUnchanged(sql, account)}`;
};

/** Locks the row until the transaction ends. Returns false if the password was changed or the account locked meanwhile. */
export const lockUnchangedPassword = async (
  tx: Queries,
  account: Omit<Account, 'isLocked'>,
): Promise<boolean> =>
  (await tx`select from users where ${isUnchanged(tx, account)} for no key update`).length === 1;

/** Cancels a requested deletion of the user. Returns whether one was requested. */
export const cancelDeletion = async (tx: Queries, userId: string): Promise<boolean> => {
  const { count } = await tx`
    update users set deletion_at = null where id = ${userId} and deletion_at is not null`;
  return count === 1;
};

/** Days after the last login from a network until it is deleted. */
export const networkDays = 90;

/** Maximum number of networks stored per user. A further one replaces the oldest, so that logins do not fill the disk. */
const maxNetworks = 100;

/** Stores that a user has logged in from a network. Updates an existing row at most once a day. */
export const rememberNetwork = async (sql: Queries, userId: string, network: string): Promise<void> => {
  const { count } = await sql`
    insert into known_networks as known (user_id, network, seen_at) values (${userId}, ${network}, now())
    on conflict (user_id, network) do update set seen_at = now()
    where known.seen_at < now() - interval '1 day'`;
  if (count === 0) return;
  await sql`
    delete from known_networks where user_id = ${userId} and seen_at < (
      select seen_at from known_networks where user_id = ${userId}
      order by seen_at desc offset ${maxNetworks - 1} limit 1)`;
};

/** Returns whether the user has logged in from the network within the last `networkDays`. */
export const hasNetwork = async (sql: Queries, email: string, network: string): Promise<boolean> => {
  const rows = await sql`
    select from known_networks join users on users.id = user_id
    where email = ${email} and network = ${network} and seen_at >= now() - make_interval(days => ${networkDays})`;
  return rows.length === 1;
};
