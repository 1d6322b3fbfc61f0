import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { isoOf } from '../time.ts';

export const VerificationView = z
  .object({
    service: z.string(),
    transactionId: z.string(),
    status: z.string().meta({ description: 'As the provider named it' }),
    completed: z.boolean(),
    userId: z.string().nullable(),
    updatedAt: instant(),
  })
  .meta({ id: 'Verification' });

export type VerificationRow = z.input<typeof VerificationView>;

export const showVerification = (row: VerificationRow): VerificationRow => ({
  ...row,
  updatedAt: isoOf(row.updatedAt),
});
