import { ProviderBusy } from '../errors.ts';
import type { Payment } from './domain.ts';

/** Requests to the provider that may be in progress for one payment: a customer may reload the page while one is. */
const maxInProgress = 2;
/** Until a worker tries the event again, in milliseconds. */
const waitMs = 1000;

/** Runs a request to the provider for a payment. Rejects with ProviderBusy if the payment has too many in progress. */
export type PaymentLimit = <T>(payment: Payment, request: () => Promise<T>) => Promise<T>;

/**
 * Limits the requests of each payment: a customer can send any number of invented challenges for a payment, and would
 * otherwise fill the limit of the provider, which all customers of the store share.
 */
export const createPaymentLimit = (): PaymentLimit => {
  const inProgress = new Map<string, number>();
  return async ({ storeId, service, transactionId }, request) => {
    const key = JSON.stringify([storeId, service, transactionId]);
    const before = inProgress.get(key) ?? 0;
    if (before >= maxInProgress)
      throw new ProviderBusy(service, 'has too many requests of this payment in progress', waitMs, 'closed');
    inProgress.set(key, before + 1);
    try {
      return await request();
    } finally {
      const left = (inProgress.get(key) ?? 0) - 1;
      if (left > 0) inProgress.set(key, left);
      else inProgress.delete(key);
    }
  };
};
