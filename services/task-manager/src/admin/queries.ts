import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { Account } from './schema.ts';

export const accounts = jsonTable('users', Object.keys(Account.shape), {
  emailVerified: 'email_verified_at is not null',
  sessions: '(select count(*) from sessions where user_id = users.id and expires_at > now())',
});

/** Locks or unlocks the account of a user. Returns its email address, or undefined when the user does not exist. */
export const setLocked = async (
  tx: Queries,
  userId: string,
  isLocked: boolean,
): Promise<string | undefined> => {
  const [user] = await tx<{ email: string }[]>`
    update users set locked_at = case when ${isLocked} then coalesce(locked_at, now()) end
    where id = ${userId} returning email`;
  return user?.email;
};
