import type { ISql } from 'postgres';
import { entries, rounds } from '../db/tables.ts';
import { jsonRows } from '../db/sql.ts';
import type { Entry } from './entry.ts';
import { insertRefusals, type NewRefusal } from './refusals.ts';
import type { Session } from './state.ts';

/** A round that is new, or that is closed now. */
export interface RoundChange extends Omit<typeof rounds.$inferSelect, 'openedAt' | 'closedAt'> {
  closed: boolean;
}

/** What a batch writes. */
export interface Writes {
  entries: Entry[];
  rounds: RoundChange[];
  audit: { playerId: string; details: Record<string, unknown> }[];
  refusals: NewRefusal[];
  /** The time of the decisions about each player. */
  clocks: Map<string, Date>;
  /** Sessions that get their `laterEnd`, by the hash of their token. */
  sessions: Map<string, Session>;
}

/** Writes decisions in one statement. The players of the entries must be locked by the transaction. */
export const insertDecisions = async (sql: ISql, writes: Writes, now: Date): Promise<void> => {
  const atOf = (playerId: string): string => (writes.clocks.get(playerId) ?? now).toISOString();
  const entryRows = jsonRows(
    entries,
    writes.entries.map((entry) => ({ ...entry, at: atOf(entry.playerId) })),
  );
  const roundRows = jsonRows(
    rounds,
    writes.rounds.map(({ closed, ...round }) => {
      const openedAt = atOf(round.playerId);
      return { ...round, openedAt, closedAt: closed ? openedAt : null };
    }),
  );
  const auditRows = writes.audit.map(({ playerId, details }) => ({ player_id: playerId, details }));
  await sql`
    with new_entries as (
      insert into entries select * from json_populate_recordset(null::entries, ${entryRows}::text::json)
      returning player_id, seq, balance_after, at
    ), new_rounds as (
      insert into rounds select * from json_populate_recordset(null::rounds, ${roundRows}::text::json)
      -- The sums of a day that is over stay as they are.
      on conflict (player_id, round_id) do update set closed_at = excluded.closed_at,
        promotional = case when date_trunc('day', rounds.opened_at, 'UTC') = date_trunc('day', excluded.opened_at, 'UTC')
          then excluded.promotional else rounds.promotional end
    ), new_balances as (
      -- An upsert finds its rows by their key under every plan.
      insert into players (player_id, currency, balance, seq, created_at, decided_at)
      select distinct on (player_id) player_id, '', balance_after, seq, at, at
      from new_entries order by player_id, seq desc
      on conflict (player_id) do update set balance = excluded.balance, seq = excluded.seq,
        decided_at = excluded.decided_at
    ) ${writes.refusals.length > 0 ? sql`, new_refusals as (${insertRefusals(sql, writes.refusals)})` : sql``}
    insert into audit_events (at, kind, player_id, details)
    select ${now.toISOString()}, 'callback', player_id, details
    from json_to_recordset(${JSON.stringify(auditRows)}::text::json) as event (player_id text, details jsonb)`;
};

/** Gives sessions their later end. One that was ended meanwhile stays so. */
export const extendSessions = (sql: ISql, sessions: Writes['sessions'], now: Date) => {
  const rows = [...sessions].map(([hash, session]) => ({ hash, ...session }));
  // As in ordinary-moves.ts: the rows exist, and all transactions lock them in this order.
  return sql`
    insert into sessions (token_hash, player_id, game_code, created_at, expires_at)
    select hash, "playerId", "gameCode", ${now.toISOString()}, "laterEnd" from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as session (hash text, "playerId" text, "gameCode" text, "laterEnd" timestamptz) order by hash
    on conflict (token_hash) do update set expires_at = excluded.expires_at
      where sessions.expires_at > excluded.created_at`;
};
