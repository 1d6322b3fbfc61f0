import type { Database, Executor } from '@platform/service-kit/db';
import { and, eq, getTableColumns, isNotNull, lt, ne, sql } from 'drizzle-orm';
import { paymentChallenges, payments } from '../db/tables.ts';
import { arrayOf } from '../db/sql.ts';
import {
  challengeKey,
  type PaymentCandidates,
  type KnownChallenge,
  type Payment,
  type PaymentKey,
} from './domain.ts';

/** The columns of a payment, and whether its order has arrived. Qualified, because `orders` has a column of the same name. */
export const shownColumns = {
  ...getTableColumns(payments),
  orderKnown: sql`exists (
    select from orders o where o.store_id = payments.store_id and o.id = payments.order_id)`.as(
    'order_known',
  ),
};

const isPayment = ({ storeId, service, transactionId }: PaymentKey) =>
  and(
    eq(payments.storeId, storeId),
    eq(payments.service, service),
    eq(payments.transactionId, transactionId),
  );

/** Challenges with the payments that they belong to. */
const selectChallenges = (db: Executor) =>
  db
    .select({ challenge: paymentChallenges, payment: payments })
    .from(paymentChallenges)
    .leftJoin(
      payments,
      and(
        eq(payments.storeId, paymentChallenges.storeId),
        eq(payments.service, paymentChallenges.service),
        eq(payments.transactionId, paymentChallenges.transactionId),
      ),
    );

/**
 * The payments of a service that have one of the ids, and the challenge with its payment: all of the store, and of each other
 * spelling and store at most two, which is enough to know that there are others. An id has as many spellings as its letters allow.
 */
export const findPayments = async (
  db: Executor,
  storeId: string,
  service: string,
  transactionIds: readonly string[],
  threeDSServerTransId: string,
): Promise<PaymentCandidates> => {
  const ids = arrayOf([...transactionIds, threeDSServerTransId]);
  const isRequested = sql`payments.ctid = any(array(
    select found.place from unnest(${ids}::text[]) as requested (id) cross join lateral (
      select ctid as place from payments
      where store_id = ${storeId} and service = ${service} and transaction_id = requested.id
      union all (
        select ctid from payments where service = ${service} and lower(transaction_id) = lower(requested.id) limit 2)) as found))`;
  const [matchingPayments, [challenge]] = await Promise.all([
    db.select().from(payments).where(isRequested),
    selectChallenges(db).where(
      and(
        eq(paymentChallenges.service, service),
        eq(paymentChallenges.threeDSServerTransId, challengeKey(threeDSServerTransId)),
      ),
    ),
  ]);
  const isNew = (payment: Payment) =>
    !matchingPayments.some(
      (row) => row.storeId === payment.storeId && row.transactionId === payment.transactionId,
    );
  const challengePayment = challenge?.payment;
  return {
    payments:
      challengePayment && isNew(challengePayment)
        ? [...matchingPayments, challengePayment]
        : matchingPayments,
    challenge: challenge?.challenge,
  };
};

/**
 * Assigns a challenge to a payment, with its encrypted outcome if it has one. Returns false if it already belongs to another
 * payment of any store; the first assignment wins, even if two happen at the same time.
 */
export const assignChallenge = async (
  db: Executor,
  { storeId, service, transactionId }: Payment,
  { threeDSServerTransId, ...outcome }: { threeDSServerTransId: string; outcome?: string; outcomeAt: string },
): Promise<boolean> => {
  const { storeId: store, service: provider, threeDSServerTransId: id } = paymentChallenges;
  const rows = await db
    .insert(paymentChallenges)
    .values({
      storeId,
      service,
      transactionId,
      threeDSServerTransId: challengeKey(threeDSServerTransId),
      ...outcome,
    })
    .onConflictDoUpdate({
      target: [provider, id],
      // A registration has no outcome and does not change the time of an earlier outcome.
      set: outcome.outcome === undefined ? { transactionId } : outcome,
      setWhere: sql`${store} = ${storeId} and ${paymentChallenges.transactionId} = ${transactionId}`,
    })
    .returning({ storeId: store });
  return rows.length > 0;
};

/** The final result of a challenge. */
interface ChallengeResult {
  threeDSServerTransId: string;
  /** Encrypted. */
  outcome: string;
  outcomeAt: string;
  status: 'succeeded' | 'failed';
  eci: string | null;
}

/**
 * Stores the result of a challenge, and makes it the result of its payment unless that has already succeeded. Returns false if
 * the challenge belongs to another payment.
 */
export const keepResult = (
  db: Database['orm'],
  payment: Payment,
  { status, eci, ...challenge }: ChallengeResult,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await assignChallenge(tx, payment, challenge))) return false;
    await tx
      .update(payments)
      .set({
        status,
        eci,
        settledAt: challenge.outcomeAt,
        settledBy: challengeKey(challenge.threeDSServerTransId),
      })
      .where(and(isPayment(payment), ne(payments.status, 'succeeded')));
    return true;
  });

/** The challenge that produced the result of a payment; undefined if it has no result. */
export const findResult = async (db: Executor, payment: PaymentKey): Promise<KnownChallenge | undefined> => {
  const isResult = eq(paymentChallenges.threeDSServerTransId, payments.settledBy);
  const [row] = await selectChallenges(db).where(and(isPayment(payment), isResult));
  return row?.challenge;
};

/** Maximum number of outcomes that are deleted at once, so that the statement ends in its time after a long pause. */
const maxDeleted = 1000;

/**
 * Deletes outcomes that are older than `before`, but keeps which payment each challenge belongs to. Returns whether there may be
 * more.
 */
export const deleteOutcomes = async (db: Executor, before: Date): Promise<boolean> => {
  const { outcome, outcomeAt } = paymentChallenges;
  const expired = db
    .select({ place: sql`ctid` })
    .from(paymentChallenges)
    .where(and(isNotNull(outcome), lt(outcomeAt, before.toISOString())))
    .orderBy(outcomeAt)
    .limit(maxDeleted)
    .for('update', { skipLocked: true });
  const deleted = await db
    .update(paymentChallenges)
    .set({ outcome: null })
    .where(sql`ctid = any(array(${expired}))`)
    .returning({ service: paymentChallenges.service });
  return deleted.length === maxDeleted;
};

/** Registers a payment and returns it; if the transaction was registered before, returns the earlier registration. */
export const addPayment = async (db: Executor, payment: Payment) => {
  const [row] = await db
    .insert(payments)
    .values({ ...payment, createdAt: sql`now()` })
    .onConflictDoUpdate({
      target: [payments.storeId, payments.service, payments.transactionId],
      set: { orderId: sql`${payments.orderId}` },
    })
    .returning();
  return row as NonNullable<typeof row>;
};
