import type { Executor } from '@platform/service-kit/db';
import { and, eq, lt, sql } from 'drizzle-orm';
import { idempotencyKeys } from '../db/tables.ts';

export interface IdempotencyKey {
  userId: string;
  key: string;
}

const matches = ({ userId, key }: IdempotencyKey) =>
  and(eq(idempotencyKeys.userId, userId), eq(idempotencyKeys.key, key));

interface Claim extends IdempotencyKey {
  requestHash: Buffer;
}

/**
 * False when the key exists and is not a day old. Waits for a concurrent transaction that claims the same
 * key.
 */
export const claimKey = async (orm: Executor, claim: Claim): Promise<boolean> => {
  const fresh = { requestHash: claim.requestHash, answer: null, createdAt: sql`now()` };
  const claimed = await orm
    .insert(idempotencyKeys)
    .values({ ...claim, ...fresh })
    .onConflictDoUpdate({
      target: [idempotencyKeys.userId, idempotencyKeys.key],
      set: fresh,
      setWhere: lt(idempotencyKeys.createdAt, sql`now() - interval '24 hours'`),
    })
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
