import type { ISql } from 'postgres';
import { capsOf, isCounted, type PlayerLimits } from './domain.ts';
import { readLimits, storeCounters } from './queries.ts';

/** What the ledger decides debits and deposits by. The players must be locked; nothing is read without any. */
export const readCounters = async (
  sql: ISql,
  playerIds: ReadonlySet<string>,
  moment: Date,
  sessionBreakS: number,
): Promise<Map<string, PlayerLimits>> =>
  playerIds.size === 0 ? new Map() : readLimits(sql, [...playerIds], moment, sessionBreakS);

/** Stores the counters after the decisions of a batch; those of players whom no limit concerns any more end. */
export const writeCounters = async (sql: ISql, players: readonly PlayerLimits[]): Promise<void> => {
  const counted = players.flatMap((player) =>
    player.counters === undefined ? [] : [{ player, counters: player.counters }],
  );
  if (counted.length === 0) return;
  const rows = counted.map(({ player, counters: { totals } }) => {
    const { playerId, moment: decidedAt } = player;
    return isCounted(player) ? { playerId, ...totals, ...capsOf(player), decidedAt } : { playerId };
  });
  const windows = counted
    .filter(({ player }) => isCounted(player))
    .flatMap(({ player: { playerId }, counters }) =>
      counters.windows.map((window) => ({ playerId, ...window })),
    );
  await storeCounters(sql, rows, windows);
};
