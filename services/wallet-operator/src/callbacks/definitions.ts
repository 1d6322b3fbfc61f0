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
import type { Command } from '../ledger/command.ts';
import { keptMetadata } from '../ledger/metadata.ts';
import { sessionHash } from '../ledger/sessions.ts';

interface Definition {
  summary: string;
  /** Schema of the body, and a valid body. */
  request: { schema: z.ZodType; example: object };
  response: z.ZodType;
  /** Returns the command in a JSON value, or the first field with a wrong syntax (null when it is not an object). */
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

/** The common fields of commands in a round. */
const roundFields = (
  request: Pick<z.output<typeof CreditRequest>, 'playerId' | 'transactionId' | 'roundId' | 'metadata'>,
) => ({
  playerId: request.playerId,
  transactionId: request.transactionId,
  roundId: request.roundId,
  metadata: keptMetadata(request.metadata),
});

const session = (token: string | null | undefined) =>
  token === undefined || token === null ? {} : { session: sessionHash(token) };

const player = { requestId: 'my-request', playerId: 'demo-1' };
const round = { ...player, roundId: 'my-round' };
const gameCode = 'dice-alpha';

/** The callbacks: their documentation, and the command of the ledger that each of them is. */
export const definitions: Record<Callback, Definition> = {
  authenticate: define(
    'Verify the player of a launch',
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
    (request) => ({
      operation: 'debit',
      ...roundFields(request),
      gameCode: request.gameCode,
      amount: minorUnits(request.amount),
      ...session(request.sessionToken),
    }),
  ),
  credit: define(
    'Pay a win, or end a round',
    CreditRequest,
    { ...round, transactionId: 'my-win', roundClosed: true, gameId: gameCode, amount: '2.50' },
    MoneyResponse,
    (request) => ({
      operation: 'credit',
      ...roundFields(request),
      gameCode: request.gameId,
      amount: minorUnits(request.amount),
      roundClosed: request.roundClosed,
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
    (request) => ({
      operation: 'rollback',
      ...roundFields(request),
      gameCode: request.gameId,
      reverses: request.reverseTransactionId,
      roundClosed: request.roundClosed,
    }),
  ),
};
