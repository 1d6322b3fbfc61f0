import { z } from 'zod';
import { addressableId, id } from '@platform/wallet-protocol/ids';
import { amount } from '@platform/wallet-protocol/money';
import { limitSlot } from '../../limits/schema.ts';

export const NewTransfer = z
  .strictObject({
    transactionId: addressableId.meta({
      description:
        'Idempotency key of deposits and withdrawals; never collides with an id of the game server',
    }),
    amount: amount.refine((value) => /[1-9]/.test(value), 'must be more than 0'),
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

/** Members of the problem `deposit_limit_reached`. */
export const DepositLimitReached = {
  period: limitSlot.period,
  limit: z.string().meta({ description: 'What may be deposited in the period', examples: ['50.00'] }),
  remaining: z.string().meta({ description: 'What may still be deposited', examples: ['5.00'] }),
};

export const TransferPath = z.object({ playerId: id, transactionId: id });

export type Direction = 'deposit' | 'withdrawal';
