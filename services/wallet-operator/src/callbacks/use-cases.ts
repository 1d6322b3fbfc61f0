import { isOverload, toProblem } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { jsonOf, requestIdIn, requestIdOf } from '@platform/wallet-protocol/body';
import type { Callback } from '@platform/wallet-protocol/callbacks';
import { id } from '@platform/wallet-protocol/ids';
import { decimal } from '@platform/wallet-protocol/money';
import type { Status } from '@platform/wallet-protocol/statuses';
import type { Command } from '../ledger/command.ts';
import type { Outcome } from '../ledger/state.ts';
import type { NewRefusal } from '../ledger/refusals.ts';
import { definitions } from './definitions.ts';
import { messageFor } from './messages.ts';

/** A callback request as received. */
export interface SignedCallback {
  callback: Callback;
  /** Of the client. */
  network: string;
  /** Without the query. */
  path: string;
  timestamp: string | undefined;
  signature: string | undefined;
  /** Undefined when it is larger than the limit. */
  body: Buffer | undefined;
}

export interface CallbackAnswer {
  status: 200 | 401 | 500;
  headers?: Record<string, string>;
  rawBody: string;
  /** Why nothing was decided, for the log. */
  code?: string;
}

/** The body of a callback that was not decided. */
export const refusal = (requestId: string, status: Status): string => JSON.stringify({ requestId, status });

const profileFields = (
  command: Command & { operation: 'authenticate' },
  { profile, reason }: Outcome,
): Record<string, unknown> => {
  if (!profile) return {};
  const { excludedUntil, ...known } = profile;
  const excluded = reason === 'player_excluded';
  return {
    accountCurrency: command.currency,
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null)),
    excluded,
    ...(excluded && excludedUntil !== null ? { excludedUntil } : {}),
  };
};

/** The body of a decided callback. */
export const answerOf = (requestId: string, command: Command, outcome: Outcome): string => {
  const { status, balance, reason, limit, languageCode } = outcome;
  const message =
    command.operation === 'debit' && status !== 'OK' && reason && messageFor(reason, limit, languageCode);
  return JSON.stringify({
    requestId,
    status,
    balance: balance === undefined ? undefined : decimal(balance),
    ...(command.operation === 'authenticate' ? profileFields(command, outcome) : {}),
    ...(message ? { customUserError: message } : {}),
  });
};

/** A signed callback with a wrong syntax, with those of its ids that are valid. */
const syntaxRefusal = (callback: Callback, value: unknown, field: string | null): NewRefusal => {
  const ids = Object.fromEntries(
    (['playerId', 'roundId', 'transactionId'] as const).map((name) => [
      name,
      id.safeParse((value as Record<string, unknown> | null | undefined)?.[name]).data,
    ]),
  );
  return { callback, ...ids, status: 'ERROR_WRONG_SYNTAX', cause: 'wrong_syntax', field };
};

/** RFC 9110 asks for it in every 401. The scheme is not registered: docs/wallet-operator.md describes it. */
const challenge = { 'WWW-Authenticate': 'HMAC-SHA256 realm="callbacks"' };

/**
 * Answers one callback: size, signature, syntax, ledger, in this order. 200 for every decision, 401 for a
 * wrong signature, 500 only when the outcome is unknown, so that the game server repeats the request.
 */
export const answerCallback = async (
  { signatures, ledger, wallet, log, refusals, syntaxRefusals }: Context,
  { callback, network, path, timestamp, signature, body }: SignedCallback,
): Promise<CallbackAnswer> => {
  const refuse = <Http extends CallbackAnswer['status']>(http: Http, status: Status, requestId: string) => {
    wallet.countOutcome(callback, status);
    return { status: http, rawBody: refusal(requestId, status) };
  };
  if (body === undefined) return refuse(200, 'ERROR_WRONG_SYNTAX', '');
  const verdict = signatures.verify({ timestamp, signature, path, body });
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
    // What was accepted is in the ledger; a line for each of them would cost more than deciding it.
    if (outcome.reason !== undefined) {
      const { status, reason } = outcome;
      log.info({ callback, playerId: command.playerId, status, reason }, 'not an ordinary outcome');
    }
    return { status: 200, rawBody: answerOf(requestId, command, outcome) };
  } catch (err) {
    const { code } = toProblem(err);
    if (!isOverload(code)) log.error({ err, callback }, 'the outcome is not known');
    return { ...refuse(500, 'ERROR_UNKNOWN', requestId), code };
  }
};
