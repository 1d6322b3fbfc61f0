import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { Payment } from './domain.ts';
import { addPayment } from './store.ts';

/** Registers the order that a transaction pays. Repeating it changes nothing; another order is a Conflict. */
export const registerPayment = async (context: Context, payment: Payment): Promise<void> => {
  await requireStore(context, payment.storeId);
  const createdAt = context.now().toISOString();
  const orderId = await addPayment(context.database.orm, { ...payment, createdAt });
  if (orderId !== payment.orderId)
    throw new Conflict('payment_exists', 'The transaction is registered for another order.');
};
