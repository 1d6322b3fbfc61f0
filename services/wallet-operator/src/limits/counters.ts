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
    if (!isCounted(player)) return { player_id: player.playerId };
    const caps = capsOf(player);
    return {
      player_id: player.playerId,
      wagered: String(totals.wagered),
      lost: String(totals.lost),
      wagered_cap: String(caps.wagered),
      lost_cap: String(caps.lost),
      limits_until: caps.until.toISOString(),
      decided_at: player.moment.toISOString(),
    };
  });
  const windows = counted
    .filter(({ player }) => isCounted(player))
    .flatMap(({ player: { playerId }, counters }) =>
      counters.windows.map(({ period, since, afterSeq, wagered, lost }) => ({
        player_id: playerId,
        period,
        since: since.toISOString(),
        after_seq: String(afterSeq),
        wagered: String(wagered),
        lost: String(lost),
      })),
    );
  await storeCounters(sql, rows, windows);
};
