import type { Sql } from 'postgres';
import type { SealedEntry } from '@platform/sealed-log/entry';
import type { Direction } from './schema.ts';

type Booked = Pick<SealedEntry, 'amount' | 'balanceAfter'>;

export const findTransfer = async (
  sql: Sql,
  direction: Direction,
  playerId: string,
  transactionId: string,
): Promise<Booked | undefined> => {
  const [row] = await sql<Booked[]>`
    select amount, balance_after as "balanceAfter" from entries
    where transaction_id = ${transactionId} and id_space = 'operator'
      and player_id = ${playerId} and operation = ${direction}`;
  return row;
};
