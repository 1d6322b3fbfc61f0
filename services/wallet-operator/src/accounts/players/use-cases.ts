import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Context } from '../../context.ts';
import { findPlayer, type PlayerRow } from './queries.ts';

/** Loads a player. Throws NotFound. */
export const getPlayer = async ({ database }: Context, playerId: string): Promise<PlayerRow> =>
  orNotFound(await findPlayer(database.sql, playerId), 'player');

/** Locks a player until the transaction ends. Throws NotFound. */
export const lockPlayer = async (tx: Queries, playerId: string): Promise<void> => {
  orNotFound(await findPlayer(tx, playerId, true), 'player');
};
