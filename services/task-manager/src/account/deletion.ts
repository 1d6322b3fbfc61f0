import { startBackground } from '@platform/service-kit/background';
import { isoTime } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { Context } from '../context.ts';
import { leaveList } from '../lists/use-cases.ts';
import { voidEmailChanges } from '../mails/use-cases.ts';
import { recordEvent } from '../security/events.ts';
import type { Actor } from '../sessions/client.ts';
import { deleteSessions, revokeSessions } from '../sessions/use-cases.ts';
import { deleteSome } from '../delete-some.ts';
import { withRecentPassword } from './use-cases.ts';

/** Days from the request to the erasure. */
const erasureDelayDays = 14;

/** Schedules the erasure of a user. Returns its time and the email address of the user. */
const scheduleErasure = async (tx: Queries, userId: string): Promise<{ erasedAt: string; email: string }> => {
  const [user] = await tx<[{ erasedAt: string; email: string }]>`
    update users set deletion_at = now() + make_interval(days => ${erasureDelayDays}) where id = ${userId}
    returning ${tx.unsafe(isoTime('deletion_at'))} as "erasedAt", email`;
  return user;
};

interface DueUser {
  id: string;
  email: string;
}

/** Key of the advisory lock that lets one process of this database erase at a time. */
const lockKey = 7_310_442;

/** Locks a user whose erasure is due, except the excluded. Undefined when none is due or another process erases. */
const lockDueUser = async (tx: Queries, excludedIds: Iterable<string>): Promise<DueUser | undefined> => {
  const [{ locked }] = await tx<
    [{ locked: boolean }]
  >`select pg_try_advisory_xact_lock(${lockKey}) as locked`;
  if (!locked) return undefined;
  const [user] = await tx<DueUser[]>`
    select id, email from users where deletion_at <= now() and id <> all(${[...excludedIds]}) limit 1 for no key update`;
  return user;
};

/**
 * Deletes a slice of the rows of a user who has left all lists; the last call deletes the user. Returns true if rows are
 * left. Mails and invitations that others caused refer to the email address.
 */
const eraseRows = async (tx: Queries, { id, email }: DueUser): Promise<boolean> => {
  for (const [table, column] of [
    ['tasks', 'owner_id'],
    ['idempotency_keys', 'owner'],
    ['security_events', 'user_id'],
  ] as const)
    if (await deleteSome(tx, table, column, id)) return true;
  await tx`delete from mails where owner = md5(${email})::uuid`;
  await tx`delete from list_members where email = ${email} and user_id is null`;
  await tx`delete from users where id = ${id}`;
  return false;
};

/** Pause when no erasure is due, and before a failed one is repeated. */
const pauseMs = 600_000;

/**
 * Erases users whose erasure is due, in small transactions, until disposed. A user first leaves all lists, one per
 * transaction. Every instance runs this task; only one works at a time. A failing erasure does not delay the others.
 */
export const startErasure = ({ database: { sql }, log }: Context): AsyncDisposable => {
  const failedIds = new Set<string>();
  const eraseStep = async (): Promise<boolean> => {
    let user: DueUser | undefined;
    try {
      return await sql.begin(async (tx) => {
        user = await lockDueUser(tx, failedIds);
        if (user === undefined) {
          failedIds.clear();
          return false;
        }
        if (!(await leaveList(tx, user.id)) && !(await eraseRows(tx, user)))
          log.info('an account was erased');
        return true;
      });
    } catch (err) {
      if (user === undefined) throw err;
      failedIds.add(user.id);
      log.warn({ err, userId: user.id }, 'could not erase an account');
      return true;
    }
  };
  return startBackground({ name: 'erasure', everyMs: pauseMs, log, run: eraseStep });
};

/**
 * Ends all sessions of the user and schedules the erasure in 14 days; a login before then cancels it. Returns the time of the
 * erasure. Throws as `withRecentPassword` does.
 */
export const deleteAccount = async (context: Context, actor: Actor): Promise<string> => {
  const { userId } = actor;
  const { ended, erasedAt } = await withRecentPassword(context, actor, async (tx) => {
    const { erasedAt, email } = await scheduleErasure(tx, userId);
    await voidEmailChanges(tx, userId);
    await recordEvent(tx, userId, 'deletion_requested', actor);
    await context.mails?.queue(tx, { kind: 'deletion_requested', recipient: email });
    return { erasedAt, ended: await deleteSessions(tx, userId) };
  });
  await revokeSessions(context, userId, ended);
  return erasedAt;
};
