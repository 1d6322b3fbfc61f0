import type { Sql } from 'postgres';

/**
 * Locks players until the end of the transaction, in the same order as `writeOrdinaryMoves`, so that two batches never wait for each
 * other in a circle. Everything that is written for a player is written under this lock, so a later statement of the
 * transaction sees the newest state.
 */
export const lockPlayers = (sql: Sql, playerIds: ReadonlySet<string>) =>
  sql.unsafe(
    'select from players where player_id = any ($1::text[]) order by player_id collate "C" for no key update',
    [[...playerIds]],
    { prepare: true },
  );
