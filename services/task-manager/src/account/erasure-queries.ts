import { isoTime } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { deleteSlice } from '../slices.ts';

/** Days from the request of a deletion to the erasure. */
const eraseDays = 14;

/** Asks for the erasure of a user. Returns when it begins, and the address of the user. */
export const requestErasure = async (
  tx: Queries,
  userId: string,
): Promise<{ erasedAt: string; email: string }> => {
  const [user] = await tx<[{ erasedAt: string; email: string }]>`
    update users set deletion_at = now() + make_interval(days => ${eraseDays}) where id = ${userId}
    returning ${tx.unsafe(isoTime('deletion_at'))} as "erasedAt", email`;
  return user;
};

interface DueUser {
  id: string;
  email: string;
}

/** One lock for all processes that erase; advisory locks are per database. */
const lock = 7_310_442;

/** Any user whose time is over, locked, so that one whose erasure fails keeps no other waiting; undefined while another process erases. */
export const lockDueUser = async (tx: Queries): Promise<DueUser | undefined> => {
  const [{ locked }] = await tx<[{ locked: boolean }]>`select pg_try_advisory_xact_lock(${lock}) as locked`;
  if (!locked) return undefined;
  const [user] = await tx<DueUser[]>`
    select id, email from users where deletion_at <= now() order by random() limit 1 for no key update`;
  return user;
};

/**
 * Deletes a part of the rows of a user who is in no list any more, the user last. Returns whether more is left. Mails and
 * invitations of others have the address.
 */
export const eraseRows = async (tx: Queries, { id, email }: DueUser): Promise<boolean> => {
  for (const [table, column] of [
    ['tasks', 'owner_id'],
    ['idempotency_keys', 'owner'],
    ['security_events', 'user_id'],
  ] as const)
    if (await deleteSlice(tx, table, column, id)) return true;
  await tx`delete from mails where owner = md5(${email})::uuid`;
  await tx`delete from list_members where email = ${email} and user_id is null`;
  await tx`delete from users where id = ${id}`;
  return false;
};
