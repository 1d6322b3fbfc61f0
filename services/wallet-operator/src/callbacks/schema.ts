import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { statuses } from '../ledger/command.ts';

/** Any Unicode but control characters; they could not be stored or would forge lines of a log. */
const control = /\p{Cc}/u;
const lengthOf = (value: string): number => {
  // Counted in characters, not in UTF-16 units, but only where that makes a difference.
  if (value.length <= 255) return value.length;
  return value.length > 510 ? value.length : [...value].length;
};

export const isId = (value: string): boolean =>
  value !== '' && lengthOf(value) <= 255 && value.isWellFormed() && !control.test(value);

const id = (description: string) =>
  z
    .string()
    .refine(isId, 'must be 1 to 255 characters, none of them a control character')
    .meta({ description, minLength: 1, maxLength: 255 });

export const amountPattern = /^(0|[1-9]\d{0,12})(\.\d{1,2})?$/;

export const amount = (description: string) =>
  z
    .string()
    .regex(amountPattern)
    .meta({ description, examples: ['12.50'] });

const requestId = id('Repeated in the answer');
const playerId = id('As in the launch');
const transactionId = id('Idempotency key, for ever');
const roundId = id('Round of this player');
const roundClosed = z.boolean().meta({ description: 'Whether the round ends with this' });
const metadata = z.string().nullish().meta({ description: 'JSON text; accepted and not interpreted' });
const sessionToken = z
  .string()
  .min(1)
  .max(1000)
  .nullish()
  .meta({ description: 'Session of the launch, where the game server passes it on' });

export const AuthenticateRequest = z
  .object({
    requestId,
    playerId,
    currency: text(1, 20).meta({ description: 'RMB is read as CNY' }),
    gameCode: id('Game to be played'),
    sessionToken,
  })
  .meta({ id: 'AuthenticateRequest' });

export const DebitRequest = z
  .object({
    requestId,
    playerId,
    transactionId,
    roundId,
    gameCode: id('Game that is played'),
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

export const AuthenticateResponse = z
  .object({
    ...common,
    balance: balance.optional(),
    accountCurrency: z.string().optional().meta({ description: 'The code that the request used' }),
    name: z.string().optional(),
    countryCode: z.string().optional(),
    languageCode: z.string().optional(),
    birthDate: z.string().optional(),
    registrationDate: z.string().optional(),
    address: z.string().optional(),
    excluded: z.boolean().optional(),
    excludedUntil: z.string().optional(),
  })
  .meta({ id: 'AuthenticateResponse' });

export const MoneyResponse = z
  .object({
    ...common,
    balance: balance.optional(),
    customUserError: z.string().optional().meta({ description: 'For the player, where a debit is refused' }),
  })
  .meta({ id: 'MoneyResponse' });

export const Refusal = z.object(common).meta({ id: 'CallbackRefusal' });
