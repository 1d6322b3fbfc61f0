import { instant, text } from '@platform/service-kit/text';
import { addressableId } from '@platform/wallet-protocol/ids';
import { z } from 'zod';
import { adjustmentReasons } from '../../db/tables.ts';

export const NewAdjustment = z
  .strictObject({
    transactionId: addressableId.meta({
      description: 'Idempotency key; must differ from the ids of deposits and withdrawals',
    }),
    amount: z
      .string()
      .regex(/^-?(0|[1-9]\d{0,12})(\.\d{1,2})?$/, 'must be an amount such as 12.50 or -12.50')
      .refine((value) => /[1-9]/.test(value), 'must not be 0')
      .meta({ description: 'Negative to debit the player', examples: ['-2.50'] }),
    reason: z.enum(adjustmentReasons),
    note: text(1, 500).meta({ description: 'Explanation for people who read the entry later' }),
  })
  .meta({ id: 'NewAdjustment' });

export const Adjustment = z
  .object({
    playerId: z.string(),
    transactionId: z.string(),
    amount: z.string(),
    currency: z.string(),
    reason: z.enum(adjustmentReasons),
    note: z.string(),
    requestedBy: z.string(),
    approvedBy: z.string().nullable(),
    approvedAt: instant().nullable(),
    balance: z
      .string()
      .nullable()
      .meta({ description: 'Balance right after the adjustment; null until it is booked' }),
  })
  .meta({ id: 'Adjustment' });
