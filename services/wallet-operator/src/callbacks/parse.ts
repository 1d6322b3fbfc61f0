import type { z } from 'zod';
import type { Command } from '../ledger/command.ts';
import {
  AuthenticateRequest,
  BalanceRequest,
  CreditRequest,
  DebitRequest,
  RollbackRequest,
  type Callback,
} from '@platform/wallet-protocol/callbacks';
import { minorUnits } from '@platform/wallet-protocol/money';
import { sessionHash } from '../accounts/sessions/token-hash.ts';

const session = (token: string | null | undefined) =>
  token === undefined || token === null ? {} : { session: sessionHash(token) };

const reader =
  <S extends z.ZodType>(schema: S, toCommand: (request: z.output<S>) => Command) =>
  (value: unknown): Command | undefined => {
    const result = schema.safeParse(value);
    return result.success ? toCommand(result.data) : undefined;
  };

/** For each callback: the command that a JSON value asks for; undefined when its syntax is wrong. */
export const commandOf: Record<Callback, (value: unknown) => Command | undefined> = {
  authenticate: reader(AuthenticateRequest, ({ playerId, currency, gameCode, sessionToken }) => ({
    operation: 'authenticate',
    playerId,
    currency,
    gameCode,
    ...session(sessionToken),
  })),
  debit: reader(DebitRequest, ({ playerId, transactionId, roundId, gameCode, amount, sessionToken }) => ({
    operation: 'debit',
    playerId,
    transactionId,
    roundId,
    gameCode,
    amount: minorUnits(amount),
    ...session(sessionToken),
  })),
  credit: reader(CreditRequest, ({ playerId, transactionId, roundId, gameId, amount, roundClosed }) => ({
    operation: 'credit',
    playerId,
    transactionId,
    roundId,
    gameCode: gameId,
    amount: minorUnits(amount),
    roundClosed,
  })),
  balance: reader(BalanceRequest, ({ playerId }) => ({ operation: 'balance', playerId })),
  rollback: reader(RollbackRequest, (request) => ({
    operation: 'rollback',
    playerId: request.playerId,
    transactionId: request.transactionId,
    roundId: request.roundId,
    gameCode: request.gameId,
    reverses: request.reverseTransactionId,
    roundClosed: request.roundClosed,
  })),
};
