import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { verifications } from '../db/tables.ts';
import { declareList } from '../stores/lists.ts';

const VerificationView = z
  .object({
    service: z.string(),
    transactionId: z.string(),
    status: z.string().meta({ description: 'As the provider named it' }),
    completed: z.boolean(),
    userId: z.string().nullable(),
    updatedAt: instant(),
  })
  .meta({ id: 'Verification' });

export const verificationList = declareList({
  table: verifications,
  latest: verifications.eventId,
  name: 'verifications',
  tag: 'Identity',
  summary: 'The identity verifications, most recently changed first',
  view: VerificationView,
  one: {
    noun: 'verification',
    param: 'transactionId',
    operationId: 'getVerification',
    summary: 'A verification; of two providers with the same id the one that changed last',
    key: verifications.transactionId,
    narrowBy: { service: verifications.service },
  },
});
