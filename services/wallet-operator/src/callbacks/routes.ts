import { readBody } from '@platform/service-kit/body';
import { networkOf } from '@platform/service-kit/network';
import { anyone, route, type Guard, type Route } from '@platform/service-kit/route';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import {
  AuthenticateRequest,
  AuthenticateResponse,
  BalanceRequest,
  CreditRequest,
  DebitRequest,
  MoneyResponse,
  Refusal,
  RollbackRequest,
  type Callback,
} from '@platform/wallet-protocol/callbacks';
import { readSignature } from '@platform/wallet-protocol/signing';
import { answerCallback } from './use-cases.ts';

/**
 * Only documents the signature: the use case checks it, because it covers the body. Nothing is looked up for a callback,
 * so a wrong signature is cheap and its network is not limited: the game server must get through.
 */
const documentedSignature: Guard<undefined> = {
  ...anyone,
  security: [{ signature: [], timestamp: [] }],
  schemes: {
    signature: {
      type: 'apiKey',
      in: 'header',
      name: 'X-HMAC-SHA256',
      description: 'Lower-case hex of HMAC-SHA256(secret, timestamp + path + raw body)',
    },
    timestamp: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Timestamp',
      description: 'Unix seconds, within 30 s',
    },
  },
};

const maxBody = 100_000;

interface Description<Request extends z.ZodType> {
  callback: Callback;
  summary: string;
  request: Request;
  example: z.input<Request>;
  response: z.ZodType;
}

const describe = <Request extends z.ZodType>(description: Description<Request>) => description;

const player = { requestId: 'my-request', playerId: 'demo-1' };
const round = { ...player, roundId: 'my-round' };
const gameCode = 'dice-alpha';

const descriptions = [
  describe({
    callback: 'authenticate',
    summary: 'Verify the player of a launch and give the balance',
    request: AuthenticateRequest,
    example: { ...player, currency: 'EUR', gameCode },
    response: AuthenticateResponse,
  }),
  describe({
    callback: 'debit',
    summary: 'Take a bet',
    request: DebitRequest,
    example: { ...round, transactionId: 'my-bet', gameCode, amount: '1.00' },
    response: MoneyResponse,
  }),
  describe({
    callback: 'credit',
    summary: 'Pay a win, or end a round',
    request: CreditRequest,
    example: { ...round, transactionId: 'my-win', roundClosed: true, gameId: gameCode, amount: '2.50' },
    response: MoneyResponse,
  }),
  describe({
    callback: 'balance',
    summary: 'Give the balance',
    request: BalanceRequest,
    example: player,
    response: MoneyResponse,
  }),
  describe({
    callback: 'rollback',
    summary: 'Reverse a debit',
    request: RollbackRequest,
    example: {
      ...round,
      transactionId: 'my-reversal',
      reverseTransactionId: 'my-bet',
      roundClosed: true,
      gameId: gameCode,
    },
    response: MoneyResponse,
  }),
];

/** What the game server calls. */
export const callbackRoutes = (context: Context): Route[] =>
  descriptions.map(({ callback, summary, request, example, response }) =>
    route(
      {
        fast: true,
        method: 'post',
        path: `/callback/${callback}`,
        operationId: callback,
        tag: 'Callbacks',
        summary,
        auth: documentedSignature,
        body: { schema: request, example, raw: true },
        skipRateLimit: true,
        // What was accepted is in the ledger; a line for each callback would cost a sixth of its time.
        logSuccess: false,
        responses: {
          200: { description: 'Decided, whatever the status says', body: response },
          401: { description: 'ERROR_INVALID_SIGNATURE', body: Refusal },
          500: { description: 'ERROR_UNKNOWN: the outcome is not known; ask again', body: Refusal },
        },
      },
      async ({ req, res }) => {
        const answer = await answerCallback(context, {
          callback,
          network: networkOf(context.clientAddress(req)),
          path: `/callback/${callback}`,
          ...readSignature(req.headers),
          body: await readBody(req, maxBody),
        });
        res.problemCode = answer.code;
        return answer;
      },
    ),
  );
