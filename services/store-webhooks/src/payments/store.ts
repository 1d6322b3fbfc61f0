import type { Sql } from 'postgres';
import type { PaymentRow } from './domain.ts';

/** All payments of a service that are known under one of the ids, in whichever store. */
export const findPayments = (sql: Sql, service: string, ids: readonly string[]) => sql<PaymentRow[]>`
  select store_id as "storeId", service, transaction_id as "transactionId", order_id as "orderId",
    three_ds_server_trans_id as "threeDSServerTransId", outcome, outcome_at as "outcomeAt"
  from payments
  where service = ${service} and (transaction_id in ${sql(ids)} or three_ds_server_trans_id in ${sql(ids)})`;

/** Binds a payment to the 3DS server's transaction and keeps the sealed outcome. */
export const keepOutcome = async (
  sql: Sql,
  { storeId, service, transactionId }: PaymentRow,
  serverTransactionId: string,
  outcome: string,
  now: Date,
): Promise<void> => {
  await sql`
    update payments set outcome = ${outcome}, outcome_at = ${now.toISOString()},
      three_ds_server_trans_id = ${serverTransactionId}
    where store_id = ${storeId} and service = ${service} and transaction_id = ${transactionId}`;
};

/** Forgets outcomes that are older than `before`. */
export const forgetOutcomes = async (sql: Sql, before: Date): Promise<void> => {
  await sql`update payments set outcome = null where outcome is not null and outcome_at < ${before.toISOString()}`;
};

export interface NewPayment {
  storeId: string;
  service: string;
  transactionId: string;
  orderId: string;
}

/** Gives the order that the transaction pays, which is another one where it was known already. */
export const addPayment = async (sql: Sql, payment: NewPayment, now: Date): Promise<string | undefined> => {
  const { storeId, service, transactionId, orderId } = payment;
  const [row] = await sql<{ orderId: string }[]>`
    insert into payments (store_id, service, transaction_id, order_id, created_at)
    values (${storeId}, ${service}, ${transactionId}, ${orderId}, ${now.toISOString()})
    on conflict (store_id, service, transaction_id) do update set order_id = payments.order_id
    returning order_id as "orderId"`;
  return row?.orderId;
};
