import type { Sql } from 'postgres';
import type { Known, Payment, SettledChallenge } from './domain.ts';

/** All payments and challenges of a service that have one of the ids, in whichever store. */
export const findPayments = async (sql: Sql, service: string, ids: readonly string[]): Promise<Known> => {
  const [payments, challenges] = await Promise.all([
    sql<Payment[]>`
      select store_id as "storeId", service, transaction_id as "transactionId", order_id as "orderId"
      from payments where service = ${service} and transaction_id in ${sql(ids)}`,
    sql<SettledChallenge[]>`
      select store_id as "storeId", transaction_id as "transactionId",
        three_ds_server_trans_id as "serverTransactionId", outcome, outcome_at as "outcomeAt"
      from payment_challenges where service = ${service} and three_ds_server_trans_id in ${sql(ids)}`,
  ]);
  return { payments, challenges };
};

/** Stores the sealed outcome of a challenge. False when the challenge already belongs to another payment. */
export const keepOutcome = async (
  sql: Sql,
  { storeId, service, transactionId }: Payment,
  serverTransactionId: string,
  outcome: string,
  now: Date,
): Promise<boolean> => {
  const { count } = await sql`
    insert into payment_challenges as c
      (store_id, service, three_ds_server_trans_id, transaction_id, outcome, outcome_at)
    values (${storeId}, ${service}, ${serverTransactionId}, ${transactionId}, ${outcome}, ${now.toISOString()})
    on conflict (store_id, service, three_ds_server_trans_id) do update
      set outcome = excluded.outcome, outcome_at = excluded.outcome_at
      where c.transaction_id = excluded.transaction_id`;
  return count > 0;
};

/** Deletes outcomes that are older than `before`; which payment a challenge belongs to is kept. */
export const forgetOutcomes = async (sql: Sql, before: Date): Promise<void> => {
  await sql`
    update payment_challenges set outcome = null
    where outcome is not null and outcome_at < ${before.toISOString()}`;
};

/** Returns the order that the transaction pays: another one when it was registered for that before. */
export const addPayment = async (sql: Sql, payment: Payment, now: Date): Promise<string | undefined> => {
  const { storeId, service, transactionId, orderId } = payment;
  const [row] = await sql<{ orderId: string }[]>`
    insert into payments (store_id, service, transaction_id, order_id, created_at)
    values (${storeId}, ${service}, ${transactionId}, ${orderId}, ${now.toISOString()})
    on conflict (store_id, service, transaction_id) do update set order_id = payments.order_id
    returning order_id as "orderId"`;
  return row?.orderId;
};

/** The order that the transaction pays; undefined if it is not registered. */
export const findPayment = async (
  sql: Sql,
  storeId: string,
  service: string,
  transactionId: string,
): Promise<string | undefined> => {
  const [row] = await sql<{ orderId: string }[]>`
    select order_id as "orderId" from payments
    where store_id = ${storeId} and service = ${service} and transaction_id = ${transactionId}`;
  return row?.orderId;
};
