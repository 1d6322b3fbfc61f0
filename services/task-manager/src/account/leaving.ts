import type { Context } from '../context.ts';
import { endEmailChanges } from '../mails/use-cases.ts';
import { recordEvent } from '../security/use-cases.ts';
import type { Actor } from '../sessions/client.ts';
import { deleteSessions, revokeSessions } from '../sessions/use-cases.ts';
import { exportOf } from './export-queries.ts';
import { requestErasure } from './erasure-queries.ts';
import { withRecentPassword } from './use-cases.ts';

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

/** The file of a user in pieces. Throws as `withRecentPassword` does. */
export const openExport = async (context: Context, actor: Actor): Promise<AsyncGenerator<string>> => {
  await withRecentPassword(context, actor, (tx) => recordEvent(tx, actor.userId, 'exported', actor));
  return exportOf(context.database.sql, actor.userId);
};
