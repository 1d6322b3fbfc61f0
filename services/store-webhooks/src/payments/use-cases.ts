import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { requireStore } from '../stores/use-cases.ts';
import { challengeKey, type Payment } from './domain.ts';
import { addPayment, assignChallenge } from './queries.ts';

/**
 * Registers the order that a transaction pays, and the challenge that alone counts for it if one is named. Repeating it
 * changes nothing. Throws Conflict for another order or challenge, and for a challenge that belongs to another payment.
 */
export const registerPayment = async (context: Context, payment: Payment): Promise<Payment> => {
  await requireStore(context, payment.storeId);
  const createdAt = context.now().toISOString();
  return context.database.orm.transaction(async (tx) => {
    const stored = await addPayment(tx, { ...payment, createdAt });
    const [registered, given] = [stored.threeDSServerTransId, payment.threeDSServerTransId];
    if (stored.orderId !== payment.orderId)
      throw new Conflict('payment_exists', 'The transaction is registered for another order.');
    if (given === null) return stored;
    if (registered === null || challengeKey(registered) !== challengeKey(given))
      throw new Conflict(
        'payment_exists',
        'The transaction is registered with another challenge or without one; register a new transaction.',
      );
    if (!(await assignChallenge(tx, stored, { threeDSServerTransId: given, outcomeAt: createdAt })))
      throw new Conflict('challenge_taken', 'The threeDSServerTransId belongs to another payment.');
    return stored;
  });
};
