import type { Sql } from 'postgres';
import type { z } from 'zod';
import { firstRow } from '../../db/first-row.ts';
import { decimalOf } from '../../ledger/entry.ts';
import type { Direction, Transfer, TransferPath } from './schema.ts';

export const findTransfer = (
  sql: Sql,
  direction: Direction,
  { playerId, transactionId }: z.output<typeof TransferPath>,
) =>
  firstRow(sql<z.input<typeof Transfer>[]>`
    select player_id as "playerId", transaction_id as "transactionId", ${decimalOf(sql, sql`abs(amount)`)} as amount,
      ${decimalOf(sql, sql`balance_after`)} as balance from entries
    where transaction_id = ${transactionId} and id_space = 'operator'
      and player_id = ${playerId} and operation = ${direction}`);
