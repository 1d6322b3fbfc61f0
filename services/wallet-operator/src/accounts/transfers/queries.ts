import type { Sql } from 'postgres';
import type { Direction } from './schema.ts';

export interface TransferRow {
  /** Signed minor units, as digits. */
  amount: string;
  balanceAfter: string;
}

export const findTransfer = async (
  sql: Sql,
  direction: Direction,
  playerId: string,
  transactionId: string,
): Promise<TransferRow | undefined> => {
  const [row] = await sql<TransferRow[]>`
    select amount, balance_after as "balanceAfter" from entries
    where transaction_id = ${transactionId} and id_space = 'operator'
      and player_id = ${playerId} and operation = ${direction}`;
  return row;
};
