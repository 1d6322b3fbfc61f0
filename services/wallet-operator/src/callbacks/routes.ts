import type { Guard, Route } from '@platform/service-kit/route';
import { fastRoute } from '@platform/service-kit/route';
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { readBody } from './body.ts';
import type { Callback } from './parse.ts';
import {
  AuthenticateRequest,
  AuthenticateResponse,
  BalanceRequest,
  CreditRequest,
  DebitRequest,
  MoneyResponse,
  Refusal,
  RollbackRequest,
} from './schema.ts';
import { answerCallback } from './use-cases.ts';

/**
 * Describes the signature, which the use case checks, because it covers the body. Nothing is looked up for a callback,
 * so a wrong signature is cheap and its network is not limited: the game server must get through.
 */
const signed: Guard<undefined> = {
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
  identify: () => undefined,
  wasValid: () => true,
  keyOf: () => undefined,
};

/** The value of a header. One that was sent twice has both, joined by a comma, which no signature matches. */
const headerOf = (req: IncomingMessage, name: string): string | undefined => {
  const value = req.headers[name];
  return typeof value === 'string' ? value : undefined;
};

interface Description {
  callback: Callback;
  summary: string;
  request: z.ZodType;
  response: z.ZodType;
}

const descriptions: Description[] = [
  {
    callback: 'authenticate',
    summary: 'Verify the player of a launch and give the balance',
    request: AuthenticateRequest,
    response: AuthenticateResponse,
  },
  { callback: 'debit', summary: 'Take a bet', request: DebitRequest, response: MoneyResponse },
  {
    callback: 'credit',
    summary: 'Pay a win, or end a round',
    request: CreditRequest,
    response: MoneyResponse,
  },
  { callback: 'balance', summary: 'Give the balance', request: BalanceRequest, response: MoneyResponse },
  { callback: 'rollback', summary: 'Reverse a debit', request: RollbackRequest, response: MoneyResponse },
];

/** What the game server calls. */
export const callbackRoutes = (context: Context): Route[] =>
  descriptions.map(({ callback, summary, request, response }) =>
    fastRoute(
      {
        method: 'post',
        path: `/callback/${callback}`,
        operationId: callback,
        tag: 'Callbacks',
        summary,
        caller: signed,
        body: { schema: request, raw: true },
        unlimited: true,
        // What was accepted is in the ledger; a line for each callback would cost a sixth of its time.
        logSuccess: false,
        responses: {
          200: { description: 'Decided, whatever the status says', body: response },
          401: { description: 'ERROR_INVALID_SIGNATURE', body: Refusal },
          500: { description: 'ERROR_UNKNOWN: the outcome is not known; ask again', body: Refusal },
        },
      },
      async ({ req }) =>
        answerCallback(context, {
          callback,
          path: `/callback/${callback}`,
          timestamp: headerOf(req, 'x-timestamp'),
          signature: headerOf(req, 'x-hmac-sha256'),
          body: await readBody(req),
        }),
    ),
  );
