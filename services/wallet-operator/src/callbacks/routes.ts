import type { Guard, Route } from '@platform/service-kit/route';
import { route } from '@platform/service-kit/route';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { takeCallback } from './listener.ts';
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

/** The signature needs the body, so the use case checks it; here it is only described. */
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
  keyOf: () => undefined,
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
    route(
      {
        method: 'post',
        path: `/callback/${callback}`,
        operationId: callback,
        tag: 'Callbacks',
        summary,
        caller: signed,
        body: { schema: request, raw: true },
        unlimited: true,
        responses: {
          200: { description: 'Decided, whatever the status says', body: response },
          401: { description: 'ERROR_INVALID_SIGNATURE', body: Refusal },
          500: { description: 'ERROR_UNKNOWN: the outcome is not known; ask again', body: Refusal },
        },
      },
      async ({ req }) => takeCallback(context, callback, req),
    ),
  );
