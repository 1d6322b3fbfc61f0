import type { Page } from '@platform/pagination/list';
import { startBackground } from '@platform/service-kit/background';
import type { Route } from '@platform/service-kit/route';
import { instant, text } from '@platform/service-kit/text';
import { callbacks, statuses } from '@platform/wallet-protocol/callbacks';
import { id } from '@platform/wallet-protocol/ids';
import type { ISql } from 'postgres';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { allOf, createdBetween, decimalOf, equalTo, isoTime } from '../db/sql.ts';
import { reasons } from '../ledger/command.ts';
import { limitKey } from '../limits/schema.ts';
import { listRoute, onListConnection, timeRange } from '../list-route.ts';

const RefusalFilter = z.object({
  playerId: id.optional(),
  roundId: id.optional(),
  transactionId: id.optional(),
  cause: text(1, 64).optional().meta({ description: 'For example `no_money` or `wrong_syntax`' }),
  ...timeRange,
});

const money = z.string().nullable();

export const Refusal = z
  .object({
    refusalId: z.string(),
    at: instant(),
    callback: z.enum(callbacks),
    playerId: z.string().nullable().meta({ description: 'null when the request has no valid one' }),
    currency: z.string().nullable().meta({ description: 'Currency of the player; null without a player' }),
    roundId: z.string().nullable(),
    transactionId: z.string().nullable(),
    status: z.enum(statuses),
    cause: z.enum([...reasons, 'wrong_syntax']),
    amount: money.meta({ description: 'Amount of the bet or win', examples: ['5.00'] }),
    balance: money.meta({ description: 'Balance of the player, if money or a limit was the cause' }),
    limit: z
      .object({ ...limitKey, limit: z.string(), remaining: z.string() })
      .nullable()
      .meta({ description: 'The reached limit and its remaining amount or minutes' }),
    field: z
      .string()
      .nullable()
      .meta({ description: 'First field with a wrong syntax; null when the body is not a JSON object' }),
  })
  .meta({ id: 'Refusal' });

/** Refusals, newest first; one more than the page holds. */
const listRefusals = (
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

/** Route of refused callbacks. */
export const refusalList = (context: Context): Route =>
  listRoute(
    {
      path: '/v1/refusals',
      operationId: 'listRefusals',
      tag: 'Callbacks',
      summary: 'List refused callbacks, newest first',
      auth: context.tokens.guard('wallet:read'),
      filters: RefusalFilter,
      name: 'refusals',
      item: Refusal,
    },
    onListConnection(context, listRefusals),
  );

const partitionsEveryMs = 3_600_000;

/** Creates the partitions of the next days every hour, and drops those older than REFUSALS_DAYS. */
export const keepRefusalDays = ({ database: { sql }, env, log, resources }: Context): void => {
  const run = async () => void (await sql`select keep_refusal_days(${env.REFUSALS_DAYS})`);
  resources.use(startBackground({ name: 'refusals', everyMs: partitionsEveryMs, log, run }));
};
