import { startBackground } from '@platform/service-kit/background';
import { isoTime } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { Context } from '../context.ts';
import { leaveList } from '../lists/use-cases.ts';
import { endEmailChanges } from '../mails/use-cases.ts';
import { recordEvent } from '../security/events.ts';
import type { Actor } from '../sessions/client.ts';
import { deleteSessions, revokeSessions } from '../sessions/use-cases.ts';
import { deleteSlice } from '../slices.ts';
import { withRecentPassword } from './use-cases.ts';

/** Days from the request of a deletion to the erasure. */
const eraseDays = 14;

/** Asks for the erasure of a user. Returns when it begins, and the address of the user. */
const requestErasure = async (tx: Queries, userId: string): Promise<{ erasedAt: string; email: string }> => {
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
const lockDueUser = async (tx: Queries): Promise<DueUser | undefined> => {
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
const eraseRows = async (tx: Queries, { id, email }: DueUser): Promise<boolean> => {
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

/** Pause after all that was due is erased. */
const pauseMs = 600_000;

/**
 * Erases the users whose time is over in small transactions until disposed of: first they leave their lists, one after the
 * other. Every instance runs it; only one works at a time.
 */
export const startErasure = ({ database: { sql }, log }: Context): AsyncDisposable =>
  startBackground({
    name: 'erasure',
    everyMs: pauseMs,
    log,
    run: () =>
      sql.begin(async (tx) => {
        const user = await lockDueUser(tx);
        if (user === undefined) return false;
        if ((await leaveList(tx, user.id)) || (await eraseRows(tx, user))) return true;
        log.info('an account was erased');
        return true;
      }),
  });

/**
 * Ends all sessions of a user, who is erased 14 days later unless they log in before. Returns when. Throws as
 * `withRecentPassword` does.
 */
export const leave = async (context: Context, actor: Actor): Promise<string> => {
  const { userId } = actor;
  const { ended, erasedAt } = await withRecentPassword(context, actor, async (tx) => {
    const { erasedAt, email } = await requestErasure(tx, userId);
    await endEmailChanges(tx, userId);
    await recordEvent(tx, userId, 'deletion_requested', actor);
    await context.mails?.queue(tx, { kind: 'deletion_requested', recipient: email });
    return { erasedAt, ended: await deleteSessions(tx, userId) };
  });
  await revokeSessions(context, userId, ended);
  return erasedAt;
};
