import type { Database } from '@platform/service-kit/db';
import { and, eq, lt } from 'drizzle-orm';
import { idempotencyKeys } from '../db/tables.ts';

type Executor = Pick<Database['orm'], 'select' | 'insert' | 'update' | 'delete'>;

export interface KeyOf {
  userId: string;
  key: string;
}

const its = ({ userId, key }: KeyOf) => and(eq(idempotencyKeys.userId, userId), eq(idempotencyKeys.key, key));

/** Forgets the user's keys from before `time`. */
export const prune = async (orm: Executor, userId: string, time: string): Promise<void> => {
  await orm
    .delete(idempotencyKeys)
    .where(and(eq(idempotencyKeys.userId, userId), lt(idempotencyKeys.createdAt, time)));
};

interface Claim extends KeyOf {
  requestHash: Buffer;
  createdAt: string;
}

/** False when the key is taken. While another transaction claims it, this waits for how that ends. */
export const claim = async (orm: Executor, wanted: Claim): Promise<boolean> => {
  const claimed = await orm
    .insert(idempotencyKeys)
    .values(wanted)
    .onConflictDoNothing()
    .returning({ key: idempotencyKeys.key });
  return claimed.length === 1;
};

export const find = async (orm: Executor, key: KeyOf) => {
  const [row] = await orm
    .select({ requestHash: idempotencyKeys.requestHash, answer: idempotencyKeys.answer })
    .from(idempotencyKeys)
    .where(its(key));
  return row;
};

export const keepAnswer = async (orm: Executor, key: KeyOf, answer: unknown): Promise<void> => {
  await orm.update(idempotencyKeys).set({ answer }).where(its(key));
};
