import { z } from 'zod';
import { addressableId, id } from '../ids.ts';
import { amountPattern } from '../money.ts';

export const NewTransfer = z
  .strictObject({
    transactionId: addressableId.meta({
      description:
        'Idempotency key of deposits and withdrawals; never collides with an id of the game server',
    }),
    amount: z
      .string()
      .regex(amountPattern, 'must be a decimal string such as 12.50')
      .refine((value) => /[1-9]/.test(value), 'must be more than 0'),
  })
  .meta({ id: 'NewTransfer' });

export const Transfer = z
  .object({
    playerId: z.string(),
    transactionId: z.string(),
    amount: z.string(),
    balance: z.string().meta({ description: 'Balance of the player right after the transfer' }),
  })
  .meta({ id: 'Transfer' });

export const TransferPath = z.object({ playerId: id, transactionId: id });

export type Direction = 'deposit' | 'withdrawal';
