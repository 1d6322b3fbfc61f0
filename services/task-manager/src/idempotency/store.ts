import type { Executor } from '@platform/service-kit/db';
import { and, eq, lt } from 'drizzle-orm';
import { idempotencyKeys } from '../db/tables.ts';

export interface IdempotencyKey {
  userId: string;
  key: string;
}

const matches = ({ userId, key }: IdempotencyKey) =>
  and(eq(idempotencyKeys.userId, userId), eq(idempotencyKeys.key, key));

/** Deletes the user's keys from before `time`. */
export const pruneKeys = async (orm: Executor, userId: string, time: string): Promise<void> => {
  await orm
    .delete(idempotencyKeys)
    .where(and(eq(idempotencyKeys.userId, userId), lt(idempotencyKeys.createdAt, time)));
};

interface Claim extends IdempotencyKey {
  requestHash: Buffer;
  createdAt: string;
}

/** False when the key exists. Waits for a concurrent transaction that claims the same key. */
export const claimKey = async (orm: Executor, claim: Claim): Promise<boolean> => {
  const claimed = await orm
    .insert(idempotencyKeys)
    .values(claim)
    .onConflictDoNothing()
    .returning({ key: idempotencyKeys.key });
  return claimed.length === 1;
};

export const findKey = async (orm: Executor, key: IdempotencyKey) => {
  const [row] = await orm
    .select({ requestHash: idempotencyKeys.requestHash, answer: idempotencyKeys.answer })
    .from(idempotencyKeys)
    .where(matches(key));
  return row;
};

export const storeAnswer = async (orm: Executor, key: IdempotencyKey, answer: unknown): Promise<void> => {
  await orm.update(idempotencyKeys).set({ answer }).where(matches(key));
};
