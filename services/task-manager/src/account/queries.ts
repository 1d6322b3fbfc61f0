import type { Queries } from '@platform/service-kit/record';
import { isNotDueForErasure } from '../db/tables.ts';

/** Finds a user by email address and locks the row until the transaction ends. */
export const lockUserByEmail = async (
  tx: Queries,
  email: string,
): Promise<{ id: string; isVerified: boolean } | undefined> => {
  const [user] = await tx<{ id: string; isVerified: boolean }[]>`
    select id, email_verified_at is not null as "isVerified" from users
    where email = ${email} and ${tx.unsafe(isNotDueForErasure)} for no key update`;
  return user;
};

/** Locks the row of a user until the transaction ends. Undefined when the user does not exist. */
export const lockUser = async (tx: Queries, userId: string): Promise<{ email: string } | undefined> => {
  const [user] = await tx<{ email: string }[]>`
    select email from users where id = ${userId} for no key update`;
  return user;
};

export const setPassword = async (tx: Queries, userId: string, passwordHash: string): Promise<void> => {
  await tx`update users set password_hash = ${passwordHash} where id = ${userId}`;
};

export const verifyEmail = async (tx: Queries, userId: string): Promise<void> => {
  await tx`update users set email_verified_at = now(), version = version + 1 where id = ${userId}`;
};

/** Replaces the address of a user with a verified one. Returns the former address. Rejects with SQLSTATE 23505 when it is taken. */
export const replaceEmail = async (
  tx: Queries,
  userId: string,
  email: string,
): Promise<string | undefined> => {
  const [row] = await tx<{ former: string }[]>`
    update users set email = ${email}, email_verified_at = now(), version = version + 1
    where id = ${userId} and ${tx.unsafe(isNotDueForErasure)} returning old.email as former`;
  return row?.former;
};
