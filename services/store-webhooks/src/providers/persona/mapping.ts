import type { z } from 'zod';
import type { VerificationRecord } from '../records.ts';
import type { inquiry, webhook } from './schema.ts';

const milliseconds = (time: string | null): number | null => (time === null ? null : Date.parse(time));

export const toVerification = (
  { id, attributes }: z.output<typeof inquiry>['data'],
  fallback: string | null = null,
): VerificationRecord => ({
  transactionId: id,
  status: attributes.status,
  userId: attributes['reference-id'],
  version: milliseconds(attributes['updated-at'] ?? fallback),
});

export const fromWebhook = ({ data: { attributes } }: z.output<typeof webhook>): VerificationRecord =>
  toVerification(attributes.payload.data, attributes['created-at']);
