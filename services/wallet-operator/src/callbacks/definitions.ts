import {
  AuthenticateRequest,
  AuthenticateResponse,
  BalanceRequest,
  CreditRequest,
  DebitRequest,
  MoneyResponse,
  RollbackRequest,
  type Callback,
} from '@platform/wallet-protocol/callbacks';
import { minorUnits } from '@platform/wallet-protocol/money';
import type { z } from 'zod';
import { sessionHash } from '../accounts/sessions/token-hash.ts';
import type { Command } from '../ledger/command.ts';
import { keptMetadata } from '../ledger/metadata.ts';

interface Definition {
  summary: string;
  /** Shape of the body, and a body that is accepted. */
  request: { schema: z.ZodType; example: object };
  response: z.ZodType;
  /** The command that a JSON value asks for, or its first field with a wrong syntax; null when it is no JSON object. */
  read(value: unknown): Command | { wrongField: string | null };
}

const define = <Request extends z.ZodType>(
  summary: string,
  schema: Request,
  example: z.input<Request> & object,
  response: z.ZodType,
  toCommand: (request: z.output<Request>) => Command,
): Definition => ({
  summary,
  request: { schema, example },
  response,
  read: (value) => {
    const result = schema.safeParse(value);
    if (result.success) return toCommand(result.data);
    const [field] = result.error.issues[0]?.path ?? [];
    return { wrongField: field === undefined ? null : String(field) };
  },
});

const session = (token: string | null | undefined) =>
  token === undefined || token === null ? {} : { session: sessionHash(token) };

const player = { requestId: 'my-request', playerId: 'demo-1' };
const round = { ...player, roundId: 'my-round' };
const gameCode = 'dice-alpha';

/** The callbacks: how they are documented, and which command of the ledger each of them is. */
export const definitions: Record<Callback, Definition> = {
  authenticate: define(
    'Verify the player of a launch and give the balance',
    AuthenticateRequest,
    { ...player, currency: 'EUR', gameCode },
    AuthenticateResponse,
    ({ playerId, currency, gameCode: game, sessionToken }) => ({
      operation: 'authenticate',
      playerId,
      currency,
      gameCode: game,
      ...session(sessionToken),
    }),
  ),
  debit: define(
    'Take a bet',
    DebitRequest,
    { ...round, transactionId: 'my-bet', gameCode, amount: '1.00' },
    MoneyResponse,
    ({ playerId, transactionId, roundId, gameCode: game, amount, metadata, sessionToken }) => ({
      operation: 'debit',
      playerId,
      transactionId,
      roundId,
      gameCode: game,
      amount: minorUnits(amount),
      metadata: keptMetadata(metadata),
      ...session(sessionToken),
    }),
  ),
  credit: define(
    'Pay a win, or end a round',
    CreditRequest,
    { ...round, transactionId: 'my-win', roundClosed: true, gameId: gameCode, amount: '2.50' },
    MoneyResponse,
    ({ playerId, transactionId, roundId, gameId, amount, roundClosed, metadata }) => ({
      operation: 'credit',
      playerId,
      transactionId,
      roundId,
      gameCode: gameId,
      amount: minorUnits(amount),
      roundClosed,
      metadata: keptMetadata(metadata),
    }),
  ),
  balance: define('Give the balance', BalanceRequest, player, MoneyResponse, ({ playerId }) => ({
    operation: 'balance',
    playerId,
  })),
  rollback: define(
    'Reverse a debit',
    RollbackRequest,
    {
      ...round,
      transactionId: 'my-reversal',
      reverseTransactionId: 'my-bet',
      roundClosed: true,
      gameId: gameCode,
    },
    MoneyResponse,
    ({
      playerId,
      transactionId,
      reverseTransactionId: reverses,
      roundId,
      roundClosed,
      gameId,
      metadata,
    }) => ({
      operation: 'rollback',
      playerId,
      transactionId,
      roundId,
      gameCode: gameId,
      reverses,
      roundClosed,
      metadata: keptMetadata(metadata),
    }),
  ),
};
