import { z } from 'zod';
import { amount } from '@platform/wallet-protocol/money';
import { id } from '@platform/wallet-protocol/ids';
import { operations } from './difference.ts';

/** An instant with an offset, as ISO 8601 in UTC; of the years 1970 to 9999. */
export const anyInstant = z.iso
  .datetime({ offset: true, abort: true, error: 'must be an ISO 8601 time with Z or an offset' })
  .refine((written) => Date.parse(written) >= 0 && Date.parse(written) < 253_402_300_800_000, {
    error: 'must lie in the years 1970 to 9999',
  })
  .transform((written) => new Date(written).toISOString())
  .meta({ type: 'string', format: 'date-time' });

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((written) => written === 'true')]);

const needsAmount = ({ operation, amount: stated }: { operation: string; amount?: string | undefined }) =>
  operation === 'rollback' || stated !== undefined;

/** One line of a statement. Fields that it does not have are not compared. */
export const StatementLine = z
  .object({
    transactionId: id,
    playerId: id,
    operation: z.enum(operations, { error: 'must be debit, credit or rollback' }),
    amount: amount.optional().meta({ description: 'Without a sign; may be absent for rollbacks' }),
    currency: id.max(20).optional(),
    roundId: id.optional(),
    gameCode: id.optional(),
    roundClosed: flag
      .optional()
      .meta({ description: 'As in the callback; compared for credits and rollbacks' }),
    reverseTransactionId: id.optional().meta({ description: 'Needed for rollbacks' }),
    time: anyInstant.optional().meta({ description: 'With Z or an offset' }),
  })
  .refine(needsAmount, { path: ['amount'], error: 'is needed for debits and credits' })
  .refine(
    ({ operation, reverseTransactionId }) => operation !== 'rollback' || reverseTransactionId !== undefined,
    { path: ['reverseTransactionId'], error: 'is needed for rollbacks' },
  )
  .meta({ id: 'StatementLine' });

export type StatementLine = z.output<typeof StatementLine>;
export type StatementField = keyof StatementLine;
export const statementFields = Object.keys(StatementLine.shape) as StatementField[];
