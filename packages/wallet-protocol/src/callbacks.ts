import { z } from 'zod';
import { id as anyId } from './ids.ts';
import { amount as anyAmount } from './money.ts';

/** The statuses of answers. Source: docs/contracts/wallet-operator.md. */
export const statuses = [
  'OK',
  'ERROR_NOT_ENOUGH_MONEY',
  'ERROR_PLAYER_DISABLED',
  'ERROR_INVALID_SESSION',
  'ERROR_SESSION_EXPIRED',
  'ERROR_INVALID_GAME',
  'ERROR_WRONG_CURRENCY',
  'ERROR_DUPLICATE_TRANSACTION',
  'ERROR_TRANSACTION_DOES_NOT_EXIST',
  'ERROR_INVALID_SIGNATURE',
  'ERROR_WRONG_SYNTAX',
  'ERROR_UNKNOWN',
] as const;

export type Status = (typeof statuses)[number];

/** The callbacks; each is the last part of a path `/callback/…`. */
export const callbacks = ['authenticate', 'debit', 'credit', 'balance', 'rollback'] as const;
export type Callback = (typeof callbacks)[number];

const id = (description: string) => anyId.meta({ description });

const amount = (description: string) => anyAmount.meta({ description });

const requestId = id('Repeated in the answer');
const playerId = id('Same id as in the launch');
const transactionId = id('Idempotency key; never expires');
const roundId = id('Round of this player');
const roundClosed = z.boolean().meta({ description: 'Whether this callback closes the round' });
const metadata = z.string().nullish().meta({ description: 'JSON text; accepted and not interpreted' });
const sessionToken = z
  .string()
  .min(1)
  .max(1000)
  .nullish()
  .meta({ description: 'Session of the launch, if the game server passes it on' });

export const AuthenticateRequest = z
  .object({
    requestId,
    playerId,
    currency: z
      .string()
      .min(1)
      .max(20)
      .refine((value) => value.isWellFormed() && !value.includes('\0'))
      .meta({ description: 'Currency code; RMB means CNY' }),
    gameCode: id('Code of the game'),
    sessionToken,
  })
  .meta({ id: 'AuthenticateRequest' });

export const DebitRequest = z
  .object({
    requestId,
    playerId,
    transactionId,
    roundId,
    gameCode: id('Code of the game'),
    amount: amount('The bet'),
    metadata,
    sessionToken,
  })
  .meta({ id: 'DebitRequest' });

export const CreditRequest = z
  .object({
    requestId,
    playerId,
    transactionId,
    roundId,
    roundClosed,
    gameId: id('Code of the game'),
    amount: amount('The payout; "0" for a loss'),
    metadata,
  })
  .meta({ id: 'CreditRequest' });

export const BalanceRequest = z.object({ requestId, playerId }).meta({ id: 'BalanceRequest' });

export const RollbackRequest = z
  .object({
    requestId,
    playerId,
    transactionId,
    reverseTransactionId: id('transactionId of the debit to reverse'),
    roundId,
    roundClosed,
    gameId: id('Code of the game'),
    metadata,
  })
  .meta({ id: 'RollbackRequest' });

const balance = z.string().meta({ description: 'Two decimals', examples: ['987.50'] });

const common = { requestId: z.string(), status: z.enum(statuses) };

const isoDate = z.string().meta({ format: 'date' });

export const AuthenticateResponse = z
  .object({
    ...common,
    balance: balance.optional(),
    accountCurrency: z.string().optional().meta({ description: 'The code that the request used' }),
    name: z.string().optional(),
    countryCode: z.string().optional(),
    languageCode: z.string().optional(),
    birthDate: isoDate.optional(),
    registrationDate: isoDate.optional(),
    address: z.string().optional(),
    excluded: z.boolean().optional(),
    excludedUntil: isoDate.optional(),
  })
  .meta({ id: 'AuthenticateResponse' });

export const MoneyResponse = z
  .object({
    ...common,
    balance: balance.optional(),
    customUserError: z
      .string()
      .optional()
      .meta({ description: 'Text for the player when a debit is refused' }),
  })
  .meta({ id: 'MoneyResponse' });

export const Refusal = z.object(common).meta({ id: 'CallbackRefusal' });
