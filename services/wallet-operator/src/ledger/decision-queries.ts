import type { ISql } from 'postgres';
import type { Entry } from './entry.ts';

/** A round that is new, or that is closed now. */
export interface RoundChange {
  playerId: string;
  roundId: string;
  gameCode: string;
  closed: boolean;
  /** Sequence number of the entry. */
  seq: bigint;
  /** Whether it is a win that opens the round. */
  promotional: boolean;
}

/** What a batch writes. */
export interface Writes {
  entries: Entry[];
  rounds: RoundChange[];
  audit: { playerId: string; details: Record<string, unknown> }[];
}

/** Writes decisions in one statement. The players of the entries must be locked by the transaction. */
export const insertDecisions = async (
  sql: ISql,
  { entries, rounds, audit }: Writes,
  now: Date,
): Promise<void> => {
  const at = now.toISOString();
  const entryRows = entries.map((entry) => ({
    player_id: entry.playerId,
    seq: String(entry.seq),
    operation: entry.operation,
    transaction_id: entry.transactionId,
    round_id: entry.roundId,
    named_round_id: entry.namedRoundId,
    game_code: entry.gameCode,
    amount: String(entry.amount),
    balance_after: String(entry.balanceAfter),
    reverses: entry.reverses,
    round_closed: entry.roundClosed,
    at,
    id_space: entry.idSpace,
  }));
  const roundRows = rounds.map(({ playerId, roundId, gameCode, closed, seq, promotional }) => ({
    player_id: playerId,
    round_id: roundId,
    game_code: gameCode,
    opened_at: at,
    closed_at: closed ? at : null,
    opened_seq: String(seq),
    promotional,
  }));
  const auditRows = audit.map(({ playerId, details }) => ({ player_id: playerId, details }));
  await sql`
    with new_entries as (
      insert into entries select * from json_populate_recordset(null::entries, ${JSON.stringify(entryRows)}::text::json)
      returning player_id, seq, balance_after
    ), new_rounds as (
      insert into rounds select * from json_populate_recordset(null::rounds, ${JSON.stringify(roundRows)}::text::json)
      on conflict (player_id, round_id) do update set closed_at = excluded.closed_at
    ), new_balances as (
      -- An upsert finds its rows by their key under every plan.
      insert into players (player_id, currency, balance, seq, created_at)
      select distinct on (player_id) player_id, '', balance_after, seq, ${at}
      from new_entries order by player_id, seq desc
      on conflict (player_id) do update set balance = excluded.balance, seq = excluded.seq
    )
    insert into audit_events (at, kind, player_id, details)
    select ${at}, 'callback', player_id, details
    from json_to_recordset(${JSON.stringify(auditRows)}::text::json) as event (player_id text, details jsonb)`;
};
