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
  cause: text(1, 64).optional().meta({ description: 'Such as `no_money`, `limit_reached`, `wrong_syntax`' }),
  ...timeRange,
});

const money = z.string().nullable();

export const Refusal = z
  .object({
    refusalId: z.string(),
    at: instant(),
    callback: z.enum(callbacks),
    playerId: z.string().nullable().meta({ description: 'null where the request has no valid one' }),
    currency: z.string().nullable().meta({ description: 'Of the player; null without one' }),
    roundId: z.string().nullable(),
    transactionId: z.string().nullable(),
    status: z.enum(statuses),
    cause: z.enum([...reasons, 'wrong_syntax']),
    amount: money.meta({ description: 'Of the bet or win', examples: ['5.00'] }),
    balance: money.meta({ description: 'Of the player, where money or a limit was the cause' }),
    limit: z
      .object({ ...limitKey, limit: z.string(), remaining: z.string() })
      .nullable()
      .meta({ description: 'The limit, and what was left of it: in money, or in minutes' }),
    field: z
      .string()
      .nullable()
      .meta({ description: 'The first field with a wrong syntax; null when the body is no JSON object' }),
  })
  .meta({ id: 'Refusal' });

/** The newest first; one more than the page holds. */
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

/** Callbacks that were refused. */
export const refusalList = (context: Context): Route =>
  listRoute(
    {
      path: '/v1/refusals',
      operationId: 'listRefusals',
      tag: 'Callbacks',
      summary: 'Refused callbacks, newest first',
      auth: context.tokens.guard('wallet:read'),
      filters: RefusalFilter,
      name: 'refusals',
      item: Refusal,
    },
    onListConnection(context, listRefusals),
  );

const keepEveryMs = 3_600_000;

/** Keeps a partition of the refusals for each of the next days, and none for days before REFUSALS_DAYS. */
export const keepRefusalDays = ({ database: { sql }, env, log, resources }: Context): void => {
  const run = async () => void (await sql`select keep_refusal_days(${env.REFUSALS_DAYS})`);
  resources.use(startBackground({ name: 'refusals', everyMs: keepEveryMs, log, run }));
};
