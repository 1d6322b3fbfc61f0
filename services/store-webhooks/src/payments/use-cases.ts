import { Conflict, NotFound } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { Payment } from './domain.ts';
import { addPayment, findPayment } from './store.ts';

/** Registers the order that a transaction pays. Repeating it changes nothing; another order is a Conflict. */
export const registerPayment = async (context: Context, payment: Payment): Promise<void> => {
  await requireStore(context, payment.storeId);
  const orderId = await addPayment(context.database.sql, payment, context.now());
  if (orderId !== payment.orderId)
    throw new Conflict('payment_exists', 'The transaction pays another order already.');
};

/** Throws NotFound. */
export const getPayment = async (
  { database }: Context,
  { storeId, service, transactionId }: Omit<Payment, 'orderId'>,
): Promise<Omit<Payment, 'storeId'>> => {
  const orderId = await findPayment(database.sql, storeId, service, transactionId);
  if (orderId === undefined) throw new NotFound('payment');
  return { service, transactionId, orderId };
};
