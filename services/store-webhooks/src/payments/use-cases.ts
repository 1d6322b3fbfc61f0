import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { Payment } from './domain.ts';
import { addPayment } from './store.ts';

/** Says which order a transaction pays; saying it again is fine, another order is a conflict. */
export const registerPayment = async (context: Context, payment: Payment): Promise<void> => {
  await requireStore(context, payment.storeId);
  const orderId = await addPayment(context.database.sql, payment, context.now());
  if (orderId !== payment.orderId)
    throw new Conflict('payment_exists', 'The transaction pays another order already.');
};
