import { readBody } from '@platform/service-kit/body';
import { networkOf } from '@platform/service-kit/network';
import { anyone, route, type Guard, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { callbacks, Refusal } from '@platform/wallet-protocol/callbacks';
import { readSignature } from '@platform/wallet-protocol/signing';
import { definitions } from './definitions.ts';
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

/** What the game server calls. */
export const callbackRoutes = (context: Context): Route[] =>
  callbacks.map((callback) => {
    const { summary, request, response } = definitions[callback];
    return route(
      {
        fast: true,
        method: 'post',
        path: `/callback/${callback}`,
        operationId: callback === 'balance' ? 'getBalance' : callback,
        tag: 'Callbacks',
        summary,
        auth: documentedSignature,
        body: { ...request, raw: true },
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
          body: await readBody(req, maxBody, ({ length }) => context.bodyBudget.take(res, length)),
        });
        res.problemCode = answer.code;
        return answer;
      },
    );
  });
