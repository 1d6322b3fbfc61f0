import { z } from 'zod';
import type { VerificationRecord } from './records.ts';
import { identifier, maybe, shaped, words } from './shape.ts';

/** Seed 001 part A, identity verification payload: what a store's own relay sends for any provider. */
const seedShape = z.looseObject({
  transactionId: identifier(),
  status: words(100).min(1),
  userId: maybe(identifier()),
  updatedAt: maybe(z.int().min(0).max(8.64e15)),
});

/** Throws Unprocessable. */
export const seedVerification = (body: unknown): VerificationRecord => {
  const { transactionId, status, userId, updatedAt } = shaped(seedShape, body);
  return { transactionId, status, userId, version: updatedAt };
};
