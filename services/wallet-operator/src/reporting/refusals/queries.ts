import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { allOf, createdBetween, equalTo } from '../../db/conditions.ts';
import { decimalOf, isoTime } from '../../ledger/entry.ts';
import type { Refusal, RefusalFilter } from './schema.ts';

/** The newest first; one more than the page holds. */
export const listRefusals = (
  sql: ISql,
  { playerId, roundId, transactionId, cause, ...range }: z.output<typeof RefusalFilter>,
  { limit, offset }: Page,
) => sql<z.input<typeof Refusal>[]>`
  select refusal_id as "refusalId", ${isoTime(sql, sql`uuid_extract_timestamp(refusal_id)`)} as at, callback,
    refusal.player_id as "playerId", currency, round_id as "roundId", transaction_id as "transactionId",
    refusal.status, cause, ${decimalOf(sql, sql`amount`)} as amount,
    ${decimalOf(sql, sql`refusal.balance`)} as balance, "limit", field
  from refusals refusal left join players player on player.player_id = refusal.player_id
  where ${allOf(sql, [
    ...equalTo(sql, {
      'refusal.player_id': playerId,
      round_id: roundId,
      transaction_id: transactionId,
      cause,
    }),
    ...createdBetween(sql, sql`refusal_id`, range),
  ])}
  order by refusal_id desc limit ${limit + 1} offset ${String(offset)}`;
