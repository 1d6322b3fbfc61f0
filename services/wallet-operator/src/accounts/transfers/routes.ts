import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { PlayerPath } from '../players/schema.ts';
import { NewTransfer, Transfer, TransferPath, type Direction } from './schema.ts';
import { getTransfer, makeTransfer } from './use-cases.ts';

const tag = 'Players';

const routesOf = (context: Context, direction: Direction, summary: string): Route[] => {
  const auth = context.tokens.guard('wallet:admin');
  return [
    route(
      {
        method: 'post',
        path: `/v1/players/{playerId}/${direction}s`,
        operationId: direction === 'deposit' ? 'createDeposit' : 'createWithdrawal',
        tag,
        summary,
        description: 'The same transactionId again returns the same answer and moves nothing.',
        auth,
        params: PlayerPath,
        body: { schema: NewTransfer, example: { transactionId: `my-${direction}`, amount: '5.00' } },
        responses: { 201: { description: 'Booked', body: Transfer, headers: { Location: 'Its address' } } },
        problems: [404, 409, 422],
      },
      async ({ caller: { subject }, params: { playerId }, body }) => {
        const [player, transaction] = [playerId, body.transactionId].map(encodeURIComponent);
        return {
          status: 201,
          headers: { Location: `/v1/players/${player}/${direction}s/${transaction}` },
          body: await makeTransfer(context, subject, direction, playerId, body),
        };
      },
    ),
    route(
      {
        method: 'get',
        path: `/v1/players/{playerId}/${direction}s/{transactionId}`,
        operationId: direction === 'deposit' ? 'getDeposit' : 'getWithdrawal',
        tag,
        summary: `A ${direction} and the balance after it`,
        auth,
        params: TransferPath,
        responses: { 200: { description: `The ${direction}`, body: Transfer } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getTransfer(context, direction, params) }),
    ),
  ];
};

/** Deposits and withdrawals, which the operator books by hand. */
export const transferRoutes = (context: Context): Route[] => [
  ...routesOf(context, 'deposit', 'Book money in'),
  ...routesOf(context, 'withdrawal', 'Book money out'),
];
