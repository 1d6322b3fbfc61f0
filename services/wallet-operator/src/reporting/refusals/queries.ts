import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { allOf, createdBetween } from '../../db/conditions.ts';
import { isoTime } from '../../ledger/entry.ts';
import type { Refusal, RefusalFilter } from './schema.ts';

/** The newest first; one more than the page holds. */
export const listRefusals = (
  sql: ISql,
  { playerId, roundId, transactionId, cause, ...range }: z.output<typeof RefusalFilter>,
  { limit, offset }: Page,
) => sql<z.input<typeof Refusal>[]>`
  select refusal_id as "refusalId", ${isoTime(sql, sql`uuid_extract_timestamp(refusal_id)`)} as at, callback,
    refusal.player_id as "playerId", currency, round_id as "roundId", transaction_id as "transactionId",
    refusal.status, cause, round(amount / 100.0, 2)::text as amount,
    round(refusal.balance / 100.0, 2)::text as balance, "limit", field
  from refusals refusal left join players player on player.player_id = refusal.player_id
  where ${allOf(sql, [
    playerId === undefined ? undefined : sql`refusal.player_id = ${playerId}`,
    roundId === undefined ? undefined : sql`round_id = ${roundId}`,
    transactionId === undefined ? undefined : sql`transaction_id = ${transactionId}`,
    cause === undefined ? undefined : sql`cause = ${cause}`,
    ...createdBetween(sql, sql`refusal_id`, range),
  ])}
  order by refusal_id desc limit ${limit + 1} offset ${String(offset)}`;
