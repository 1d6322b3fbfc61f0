import type { ISql } from 'postgres';
import { limitWindows, players as playersTable } from '../db/tables.ts';
import { jsonRows } from '../ledger/json-rows.ts';
import { capsOf, isCounted, type PlayerLimits } from './domain.ts';

/** What the ledger decides debits and deposits by. */
export { readLimits } from './queries.ts';

/**
 * Stores the counters after the decisions of a batch; those of players whom no limit concerns any more end. The players
 * must be locked by the transaction.
 */
export const writeCounters = async (sql: ISql, players: readonly PlayerLimits[]): Promise<void> => {
  const withCounters = players.filter(({ counters }) => counters !== undefined);
  if (withCounters.length === 0) return;
  const counted = withCounters.filter(isCounted);
  const ended = withCounters.filter((player) => !isCounted(player)).map(({ playerId }) => ({ playerId }));
  const rows = counted.map((player) => {
    const { playerId, counters, moment: decidedAt } = player;
    return { playerId, ...counters?.totals, ...capsOf(player), decidedAt };
  });
  const windows = counted.flatMap(({ playerId, counters }) =>
    (counters?.windows ?? []).map((window) => ({ playerId, ...window })),
  );
  await sql`
    with ended as (
      delete from limit_windows where player_id = any (${ended.map(({ playerId }) => playerId)}::text[])
    ), moved as (
      insert into limit_windows
      select * from json_populate_recordset(null::limit_windows, ${jsonRows(limitWindows, windows)}::text::json)
      on conflict (player_id, period) do update set since = excluded.since, after_seq = excluded.after_seq,
        wagered = excluded.wagered, lost = excluded.lost
    )
    -- An upsert finds its rows by their key under every plan.
    insert into players
      (player_id, currency, created_at, wagered, lost, wagered_cap, lost_cap, limits_until, decided_at)
    select player_id, '', now(), wagered, lost, wagered_cap, lost_cap, limits_until, decided_at
    from json_populate_recordset(null::players, ${jsonRows(playersTable, [...rows, ...ended])}::text::json)
    on conflict (player_id) do update set wagered = excluded.wagered, lost = excluded.lost,
      wagered_cap = excluded.wagered_cap, lost_cap = excluded.lost_cap, limits_until = excluded.limits_until,
      decided_at = coalesce(excluded.decided_at, players.decided_at)`;
};
