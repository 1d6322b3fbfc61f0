import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '@platform/service-kit/body';
import { networkOf } from '@platform/service-kit/network';
import { isOverload, toProblem } from '@platform/service-kit/problem';
import { anyone, route, type Guard, type Route } from '@platform/service-kit/route';
import { jsonOf, requestIdIn, requestIdOf } from '@platform/wallet-protocol/body';
import { callbacks, Refusal, type Callback, type Status } from '@platform/wallet-protocol/callbacks';
import { readSignature } from '@platform/wallet-protocol/signing';
import type { Context } from '../context.ts';
import { syntaxRefusal } from '../ledger/refusals.ts';
import { answerOf } from './answers.ts';
import { definitions } from './definitions.ts';

/**
 * Only documents the signature; `answerCallback` checks it, because it covers the body. Wrong signatures do not limit the
 * network, so that the game server always gets through; they are cheap, because checking them looks nothing up.
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

/** RFC 9110 requires this header in every 401. The scheme is not registered; docs/wallet-operator.md describes it. */
const challenge = { 'WWW-Authenticate': 'HMAC-SHA256 realm="callbacks"' };

interface CallbackAnswer {
  status: 200 | 401 | 500;
  headers?: Record<string, string>;
  rawBody: string;
}

/**
 * Answers one callback. Checks size, signature and syntax, then asks the ledger. 200 for every decision, 401 for a wrong
 * signature, 500 only when the outcome is unknown, so that the game server repeats the request.
 */
const answerCallback = async (
  context: Context,
  callback: Callback,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<CallbackAnswer> => {
  const { signatures, ledger, wallet, log, refusals, syntaxRefusals } = context;
  const network = networkOf(context.clientAddress(req));
  const refuse = <Http extends 200 | 401 | 500>(http: Http, status: Status, requestId: string) => {
    wallet.countOutcome(callback, status);
    return { status: http, rawBody: JSON.stringify({ requestId, status }) };
  };
  const body = await readBody(req, maxBody, ({ length }) => context.bodyBudget.take(res, length));
  if (body === undefined) return refuse(200, 'ERROR_WRONG_SYNTAX', '');
  const path = `/callback/${callback}`;
  const verdict = signatures.verify({ ...readSignature(req.headers), path, body });
  if (!verdict.ok) {
    if (refusals.sample('signature refused', network))
      log.warn({ callback, why: verdict.why, network }, 'signature refused');
    return { ...refuse(401, 'ERROR_INVALID_SIGNATURE', requestIdIn(body)), headers: challenge };
  }
  const value = jsonOf(body);
  const requestId = requestIdOf(value);
  const command = definitions[callback].read(value);
  if ('wrongField' in command) {
    // Not awaited: the answer needs no database.
    syntaxRefusals.add(syntaxRefusal(callback, value, command.wrongField)).catch((err: unknown) => {
      if (refusals.sample('refusal not stored', network))
        log.warn({ err, callback }, 'a refusal was not stored');
    });
    return refuse(200, 'ERROR_WRONG_SYNTAX', requestId);
  }
  try {
    const outcome = await ledger.add(command);
    wallet.countOutcome(callback, outcome.status);
    // Accepted callbacks are in the ledger; a log line for each would cost more than its decision.
    if (outcome.reason !== undefined) {
      const { status, reason } = outcome;
      log.info({ callback, playerId: command.playerId, status, reason }, 'not an ordinary outcome');
    }
    return { status: 200, rawBody: answerOf(requestId, command, outcome) };
  } catch (err) {
    const { code } = toProblem(err);
    if (!isOverload(code)) log.error({ err, callback }, 'the outcome is not known');
    res.problemCode = code;
    return refuse(500, 'ERROR_UNKNOWN', requestId);
  }
};

/** Routes of the callbacks, which the game server calls. */
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
        // Accepted callbacks are in the ledger; a log line for each would take a sixth of its time.
        logSuccess: false,
        responses: {
          200: { description: 'The decision, also for refusals', body: response },
          401: { description: 'ERROR_INVALID_SIGNATURE', body: Refusal },
          500: { description: 'ERROR_UNKNOWN: the outcome is unknown; repeat the request', body: Refusal },
        },
      },
      ({ req, res }) => answerCallback(context, callback, req, res),
    );
  });
