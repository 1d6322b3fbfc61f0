import type { Page } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Context } from '../../context.ts';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import { endSessions, findPlayer, listEntries, type PlayerRow } from './queries.ts';

/** Entries as people read them: of one round, and with one transaction id. */
export { entriesOfRound, entriesOfTransaction } from './queries.ts';

/** Throws NotFound. */
export const getPlayer = async ({ database }: Context, playerId: string): Promise<PlayerRow> =>
  orNotFound(await findPlayer(database.sql, playerId), 'player');

/** Locks a player until the transaction ends. Throws NotFound. */
export const lockPlayer = async (tx: Queries, playerId: string): Promise<void> => {
  orNotFound(await findPlayer(tx, playerId, true), 'player');
};

/** Ends all sessions of a locked player, or one of them. */
export const endSessionsOf = async (
  tx: Queries,
  { playerId, sessionId, by }: { playerId: string; sessionId?: string; by: string },
): Promise<void> => {
  await endSessions(tx, playerId, sessionId);
  await recordEvent(tx, { kind: 'sessions_ended', playerId, details: { by, sessionId } });
};

/** The entries of a player, one more than the page holds. Throws NotFound. */
export const playerEntries = async (ctx: Context, playerId: string, sort: 'seq' | '-seq', page: Page) => {
  await getPlayer(ctx, playerId);
  return listEntries(ctx.database.sql, playerId, sort, page);
};
