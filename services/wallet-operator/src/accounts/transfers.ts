import { Conflict, NotFound, Problem } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { addressableId, id } from '@platform/wallet-protocol/ids';
import { amount, decimal, minorUnits } from '@platform/wallet-protocol/money';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { decimalOf, firstRow } from '../db/sql.ts';
import type { Outcome } from '../ledger/state.ts';
import { limitKey } from '../limits/schema.ts';
import { recordEvent } from '../reporting/audit.ts';
import { PlayerPath } from './players/schema.ts';

type Direction = 'deposit' | 'withdrawal';

const NewTransfer = z
  .strictObject({
    transactionId: addressableId.meta({
      description:
        'Idempotency key of deposits and withdrawals; never collides with an id of the game server',
    }),
    amount: amount.refine((value) => /[1-9]/.test(value), 'must be more than 0'),
  })
  .meta({ id: 'NewTransfer' });

const Transfer = z
  .object({
    playerId: z.string(),
    transactionId: z.string(),
    amount: z.string(),
    balance: z.string().meta({ description: 'Balance of the player right after the transfer' }),
  })
  .meta({ id: 'Transfer' });

/** Members of the problem `deposit_limit_reached`. */
export const DepositLimitReached = {
  period: limitKey.period,
  limit: z.string().meta({ description: 'Deposit limit for the period', examples: ['50.00'] }),
  remaining: z.string().meta({ description: 'Amount that may still be deposited', examples: ['5.00'] }),
};

export const TransferPath = z.object({ playerId: id, transactionId: id });

const unprocessable = (code: string, detail: string, members: Record<string, string> = {}): Problem =>
  new Problem({ status: 422, code, detail, members });

/** The problem for a transfer or an adjustment that the ledger refused. */
export const problemOf = ({ reason, balance = '0', limit }: Outcome): Problem => {
  if (limit) {
    const [depositLimit, remaining] = [decimal(limit.limit), decimal(limit.remaining)];
    const detail = `The deposit limit is ${depositLimit} (${limit.period}); ${remaining} may still be deposited.`;
    const members = { period: limit.period, limit: depositLimit, remaining };
    return unprocessable('deposit_limit_reached', detail, members);
  }
  switch (reason) {
    case 'player_unknown':
      return new NotFound('player');
    case 'player_disabled':
      return unprocessable('player_disabled', 'The player is disabled.');
    case 'player_excluded':
      return unprocessable('player_self_excluded', 'The player is self-excluded.');
    case 'parameters_differ':
      return new Conflict('duplicate_transaction', 'This transactionId was used with other parameters.');
    case 'no_money':
      return unprocessable('not_enough_money', `The balance is ${decimal(balance)}.`);
    // The ledger has no other reason to refuse a transfer or an adjustment.
    default:
      return unprocessable('balance_overflow', 'The balance would exceed the maximum.');
  }
};

/** The Location header of a transfer or an adjustment; `list` is the path segment, such as `deposits`. */
export const locationOf = (list: string, playerId: string, transactionId: string) => ({
  Location: `/v1/players/${encodeURIComponent(playerId)}/${list}/${encodeURIComponent(transactionId)}`,
});

/** Books a transfer. A repeated transactionId returns the first answer and moves nothing. */
const bookTransfer = async (
  { database, ledger }: Context,
  by: string,
  transfer: { operation: Direction; playerId: string } & z.output<typeof NewTransfer>,
): Promise<z.input<typeof Transfer>> => {
  const { playerId, transactionId, ...details } = transfer;
  // Committed before the booking, so that the audit log also has refused and failed requests.
  await recordEvent(database.sql, 'transfer_requested', { by, transactionId, ...details }, playerId);
  const minor = minorUnits(details.amount);
  const outcome = await ledger.add({ ...transfer, amount: minor });
  const { status, balance } = outcome;
  if (status !== 'OK' || balance === undefined) throw problemOf(outcome);
  return { playerId, transactionId, amount: decimal(minor), balance: decimal(balance) };
};

const findTransfer = (
  { database: { sql } }: Context,
  operation: Direction,
  { playerId, transactionId }: z.output<typeof TransferPath>,
) =>
  firstRow(sql<z.input<typeof Transfer>[]>`
    select player_id as "playerId", transaction_id as "transactionId", ${decimalOf(sql, sql`abs(amount)`)} as amount,
      ${decimalOf(sql, sql`balance_after`)} as balance from entries
    where transaction_id = ${transactionId} and id_space = 'operator'
      and player_id = ${playerId} and operation = ${operation}`);

const createRoutes = (context: Context, operation: Direction, name: string, summary: string): Route[] => {
  const common = { tag: 'Players', auth: context.tokens.guard('wallet:admin') };
  const list = `${operation}s`;
  return [
    route(
      {
        ...common,
        method: 'post',
        path: `/v1/players/{playerId}/${list}`,
        operationId: `create${name}`,
        summary,
        description: 'A repeated transactionId returns the first answer and moves nothing.',
        params: PlayerPath,
        body: { schema: NewTransfer, example: { transactionId: `my-${operation}`, amount: '5.00' } },
        responses: { 201: { description: 'Booked', body: Transfer, headers: { Location: 'Its address' } } },
        problems: [404, 409, 422],
      },
      async ({ caller: { subject }, params: { playerId }, body }) => ({
        status: 201,
        headers: locationOf(list, playerId, body.transactionId),
        body: await bookTransfer(context, subject, { operation, playerId, ...body }),
      }),
    ),
    route(
      {
        ...common,
        method: 'get',
        path: `/v1/players/{playerId}/${list}/{transactionId}`,
        operationId: `get${name}`,
        summary: `Get a ${operation}`,
        params: TransferPath,
        responses: { 200: { description: `The ${operation}`, body: Transfer } },
        problems: [404],
      },
      async ({ params }) => ({
        status: 200,
        body: orNotFound(await findTransfer(context, operation, params), operation),
      }),
    ),
  ];
};

/** Routes of deposits and withdrawals, which the operator books. */
export const transferRoutes = (context: Context): Route[] => [
  ...createRoutes(context, 'deposit', 'Deposit', 'Book a deposit'),
  ...createRoutes(context, 'withdrawal', 'Withdrawal', 'Book a withdrawal'),
];
