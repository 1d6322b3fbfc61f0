import type { Sql } from 'postgres';
import { decisionTime, latestCredible } from '../db/time.ts';
import { idSpaceOf, type Move, type Policy } from './command.ts';
import { leftOver, type BatchOutcome } from './state.ts';
import { isSessionOpen, laterEnd } from './sessions.ts';

/**
 * The locks make the rows of `players` and `rounds` current, even if another transaction changed them after the statement
 * began. If another transaction has inserted one of the transaction ids or rounds since then, a unique index is violated.
 *
 * Ids are sent as lines of one text, which costs less than arrays; they contain no line feed. $14 is null without metadata.
 */
const statement = `
  with judged as materialized (
    select move.player_id, move.transaction_id, move.id_space, move.round_id, move.game_code, move.amount, move.total,
      move.is_last, move.round_closed, move.metadata, player.at, player.balance, player.wagered, player.lost,
      player.seq + move.place as seq, round.player_id is null as is_new_round,
      move.session, ${laterEnd('session', 'player.at', { ttl: '$15::int', longest: '$16::int' })} as session_end,
      known.player_id is null and round.closed_at is null
        and -move.total <= player.balance and move.total <= 9223372036854775807 - player.balance
        and case when move.round_closed is null -- a debit
          then player.status = 'active' and coalesce(game.enabled, false)
            and not coalesce(player.excluded_until > move.at, false)
            and (move.session is null
              or coalesce(session.player_id = move.player_id and session.game_code = move.game_code
                and ${isSessionOpen('session', 'game', 'move.at')}, false))
            -- The first bet after a win that opened the round makes it an ordinary win.
            and round.promotional is not true
            and (player.limits_until is null or player.at < player.limits_until
              and player.limits_until <= ${latestCredible('player.at')}
              and player.wagered - move.amount <= player.wagered_cap and player.lost - move.amount <= player.lost_cap)
          else round.player_id is not null or $13::boolean end
        -- If the player's bets are counted for limits, only one move of the player: each is compared with the caps alone.
        and (player.limits_until is null or move.place = 1) as is_ordinary
    from (
      -- All batches lock players in this order, so that they cannot deadlock.
      select *, coalesce($12::timestamptz, now()) as at from unnest(
        string_to_array($1, e'\\n'), string_to_array($2, e'\\n'), string_to_array($3, e'\\n'),
        string_to_array($4, e'\\n'), string_to_array($5, e'\\n'), string_to_array($6, e'\\n', ''),
        $7::bigint[], $8::bigint[], $9::int[], $10::boolean[], $11::boolean[], $14::text[]
      ) as move (player_id, transaction_id, id_space, round_id, game_code, session,
        amount, total, place, is_last, round_closed, metadata)
      order by player_id collate "C"
    ) move
      join lateral (
        -- Keeps the times in the order of the entries, even if a batch that began later was first.
        select balance, wagered, lost, seq, status, excluded_until, limits_until, wagered_cap, lost_cap,
          ${decisionTime('move.at', 'decided_at')} as at
        from players where player_id = move.player_id for no key update
      ) player on true
      left join entries known on known.transaction_id = move.transaction_id and known.id_space = move.id_space
      left join lateral (
        select player_id, closed_at, promotional from rounds where player_id = move.player_id and round_id = move.round_id
        for no key update
      ) round on true
      left join games game on game.game_code = move.game_code
      left join sessions session on session.token_hash = move.session
  ), accepted as materialized (
    select * from judged where player_id not in (select player_id from judged where not is_ordinary)
  ), new_entries as (
    insert into entries (player_id, seq, operation, transaction_id, round_id, game_code, amount, balance_after,
      round_closed, at, id_space, metadata)
    select player_id, seq, case when round_closed is null then 'debit' else 'credit' end, transaction_id, round_id,
      game_code, amount, balance + total, round_closed, at, id_space, metadata from accepted
  ), new_rounds as (
    insert into rounds (player_id, round_id, game_code, opened_at, closed_at, opened_seq, promotional)
    select player_id, round_id, game_code, at, case when round_closed then at end, seq, round_closed is not null
    from accepted where is_new_round
  ), closed_rounds as (
    -- The rows exist. An upsert finds them by key under every plan; an update might read the whole table.
    insert into rounds (player_id, round_id, game_code, opened_at, opened_seq)
    select player_id, round_id, game_code, at, seq from accepted where round_closed and not is_new_round
    on conflict (player_id, round_id) do update set closed_at = excluded.opened_at
  ), later_sessions as (
    -- These rows exist, too. A session that was ended meanwhile stays ended.
    insert into sessions (token_hash, player_id, game_code, created_at, expires_at)
    select distinct on (session) session, player_id, game_code, at, session_end from accepted
    where session_end is not null order by session
    on conflict (token_hash) do update set expires_at = excluded.expires_at
      where sessions.expires_at > excluded.created_at
  )
  insert into players (player_id, currency, balance, seq, created_at, decided_at, wagered, lost)
  select player_id, '', balance + total, seq, at, at,
    wagered - case when round_closed is null then amount else 0 end, lost - amount from accepted where is_last
  on conflict (player_id) do update set balance = excluded.balance, seq = excluded.seq,
    decided_at = excluded.decided_at, wagered = excluded.wagered, lost = excluded.lost
  returning player_id as "playerId", balance`;

/** The moves of a player up to and including one of them: their number, and the sum of their amounts. */
interface RunningTotal {
  place: number;
  total: bigint;
}

/** The text of a PostgreSQL array, which the driver sends unchanged. */
const arrayOf = (values: readonly (number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join()}}`;

/**
 * Commits, in one round trip, the debits and credits that are certainly accepted: the player may play, the transaction id is
 * new, the round is new or open, and money and limits suffice. If one move of a player is not, none of that player's moves
 * is written. No two moves may share a transaction or a round of a player. A property test compares the outcomes with
 * domain.ts.
 *
 * Returns the outcomes in the order of the moves; `leftOver` for those that were not written. Rejects with SQLSTATE 23505,
 * and writes nothing, when another transaction has written one of the ids meanwhile.
 */
export const commitMoves = async (
  sql: Sql,
  moves: readonly Move[],
  now: Date | undefined,
  policy: Policy,
): Promise<BatchOutcome[]> => {
  const lastOfPlayer = new Map<string, RunningTotal>();
  const amounts = moves.map(({ operation, amount }) => (operation === 'debit' ? -amount : amount));
  const totals = moves.map(({ playerId }, index) => {
    const { place, total } = lastOfPlayer.get(playerId) ?? { place: 0, total: 0n };
    const next = { place: place + 1, total: total + BigInt(amounts[index] ?? 0) };
    lastOfPlayer.set(playerId, next);
    return next;
  });
  const lines = (read: (move: Move) => string): string => moves.map(read).join('\n');
  const rows = await sql.unsafe<{ playerId: string; balance: string }[]>(
    statement,
    [
      lines(({ playerId }) => playerId),
      lines(({ transactionId }) => transactionId),
      lines((move) => idSpaceOf(move, policy.transactionIds)),
      lines(({ roundId }) => roundId),
      lines(({ gameCode }) => gameCode),
      lines((move) => (move.operation === 'debit' ? (move.session ?? '') : '')),
      arrayOf(amounts),
      arrayOf(totals.map(({ total }) => total)),
      arrayOf(totals.map(({ place }) => place)),
      arrayOf(moves.map(({ playerId }, index) => lastOfPlayer.get(playerId) === totals[index])),
      // Null marks a debit.
      arrayOf(moves.map((move) => (move.operation === 'credit' ? move.roundClosed : null))),
      now?.toISOString() ?? null,
      policy.creditUnknownRound === 'accept',
      moves.some(({ metadata }) => metadata !== undefined)
        ? moves.map(({ metadata }) => metadata ?? null)
        : null,
      policy.sessionTtlS,
      policy.sessionMaxS,
    ],
    { prepare: true },
  );
  const balances = new Map(rows.map(({ playerId, balance }) => [playerId, BigInt(balance)]));
  return moves.map(({ playerId }, index) => {
    const balance = balances.get(playerId);
    if (balance === undefined) return leftOver;
    const laterMoves = (lastOfPlayer.get(playerId)?.total ?? 0n) - (totals[index]?.total ?? 0n);
    return { status: 'OK', balance: String(balance - laterMoves) };
  });
};
