import type { Sql } from 'postgres';
import type { Credit, Debit, Policy } from './command.ts';
import { idSpaceOf } from './id-space.ts';

/** What one statement may write without a decision. */
export type Move = Debit | Credit;

/** A constant text, so that the driver does not build it for every batch. */
const call = `
  select move_number::int as number, new_balance as balance from write_ordinary_moves(
    $1, $2, $3, $4, $5, $6, $7, $8::text[]::boolean[], $9, coalesce($10::timestamptz, now()), $11)`;

/**
 * Writes, in one transaction and one round trip, the debits and credits that are certainly accepted: the player is
 * known and may play, the transaction id is new, the round is new or open, and the money suffices for all debits of
 * the batch. When one move of a player is not of this kind, none of that player's moves is written. No two moves may
 * share a transaction or a round of a player. A property test compares the outcome with domain.ts.
 *
 * Returns the new balance of each move that was written, by its position; undefined for the others.
 */
export const writeOrdinaryMoves = async (
  sql: Sql,
  moves: readonly Move[],
  now: Date | undefined,
  policy: Policy,
): Promise<(string | undefined)[]> => {
  const column = <T>(read: (move: Move) => T): T[] => moves.map(read);
  const players = column(({ playerId }) => playerId);
  const rows = await sql.unsafe<{ number: number; balance: string }[]>(
    call,
    [
      [...new Set(players)],
      players,
      column(({ transactionId }) => transactionId),
      column((move) => idSpaceOf(move, policy.transactionIds)),
      column(({ roundId }) => roundId),
      column(({ gameCode }) => gameCode),
      column((move) => (move.operation === 'debit' ? -move.amount : move.amount)),
      // Text, because the driver would take a list of booleans for one boolean. Null marks a debit.
      column((move) => (move.operation === 'credit' ? String(move.roundClosed) : null)),
      column((move) => (move.operation === 'debit' ? (move.session ?? null) : null)),
      now?.toISOString() ?? null,
      policy.creditUnknownRound === 'accept',
    ],
    { prepare: true },
  );
  const balances: (string | undefined)[] = moves.map(() => undefined);
  for (const { number, balance } of rows) balances[number - 1] = balance;
  return balances;
};
