import type { Executor } from '@platform/service-kit/db';
import { and, eq, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import { paymentChallenges, payments } from '../db/tables.ts';
import type { Known, Payment } from './domain.ts';

/** All payments and challenges of a service that have one of the ids, of all stores. */
export const findPayments = async (db: Executor, service: string, ids: readonly string[]): Promise<Known> => {
  const [known, challenges] = await Promise.all([
    db
      .select()
      .from(payments)
      .where(and(eq(payments.service, service), inArray(payments.transactionId, ids))),
    db
      .select()
      .from(paymentChallenges)
      .where(
        and(eq(paymentChallenges.service, service), inArray(paymentChallenges.threeDSServerTransId, ids)),
      ),
  ]);
  return { payments: known, challenges };
};

/** Stores the sealed outcome of a challenge. False when the challenge already belongs to another payment. */
export const keepOutcome = async (
  db: Executor,
  { storeId, service, transactionId }: Payment,
  kept: { threeDSServerTransId: string; outcome: string; outcomeAt: string },
): Promise<boolean> => {
  const { storeId: store, service: provider, threeDSServerTransId } = paymentChallenges;
  const rows = await db
    .insert(paymentChallenges)
    .values({ storeId, service, transactionId, ...kept })
    .onConflictDoUpdate({
      target: [store, provider, threeDSServerTransId],
      set: { outcome: kept.outcome, outcomeAt: kept.outcomeAt },
      setWhere: eq(paymentChallenges.transactionId, transactionId),
    })
    .returning({ storeId: store });
  return rows.length > 0;
};

/** Deletes outcomes that are older than `before`; which payment a challenge belongs to is kept. */
export const forgetOutcomes = async (db: Executor, before: Date): Promise<void> => {
  const { outcome, outcomeAt } = paymentChallenges;
  await db
    .update(paymentChallenges)
    .set({ outcome: null })
    .where(and(isNotNull(outcome), lt(outcomeAt, before.toISOString())));
};

/** Registers the order that a transaction pays, and returns it: another order if the transaction was registered before. */
export const addPayment = async (db: Executor, payment: typeof payments.$inferInsert) => {
  const [row] = await db
    .insert(payments)
    .values(payment)
    .onConflictDoUpdate({
      target: [payments.storeId, payments.service, payments.transactionId],
      set: { orderId: sql`${payments.orderId}` },
    })
    .returning();
  return row?.orderId;
};
