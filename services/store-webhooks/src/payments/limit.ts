import { createHash } from 'node:crypto';
import { createLru } from '@platform/service-kit/lru';
import { createRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';
import { createTally } from '@platform/service-kit/tally';
import { ProviderBusy } from '../errors.ts';
import type { Payment } from './domain.ts';

/** Requests to the provider that may be in progress for one payment: a customer may reload the page while one is. */
const maxInProgress = 2;
/** The maximum number of look-ups at the provider in a minute for one payment, in all instances. Each has two attempts. */
const maxPerMinute = 10;
/** Until a worker tries the event again, in milliseconds. */
const waitMs = 1000;

/** How long the last attempt of an event keeps others from being retried; longer than any wait until its next one. */
const retriedMs = 2 * 3_600_000;

const keyOf = ({ storeId, service, transactionId }: Payment): string =>
  JSON.stringify([storeId, service, transactionId]);

export type PaymentLimit = ReturnType<typeof createPaymentLimit>;

/**
 * Limits the requests of each payment: a customer can send any number of challenges for a payment, and would otherwise fill
 * the limit of the provider, which all customers of the store share, and keep the workers of all stores busy with retries.
 */
export const createPaymentLimit = (redis?: RateCounterOptions['redis']) => {
  const countLookUp = createRateCounter({
    redis,
    prefix: 'store-webhooks:asked',
    points: maxPerMinute,
    seconds: 60,
  });
  const inProgress = createTally();
  const retried = createLru<string, string>(10_000, retriedMs);
  return {
    /**
     * Runs a request to the provider for a payment. Rejects with ProviderBusy if the payment has too many in progress or in
     * this minute.
     */
    run: async <T>(payment: Payment, request: () => Promise<T>): Promise<T> => {
      const key = keyOf(payment);
      const refusal = (what: string, ms: number) => new ProviderBusy(payment.service, what, ms, 'closed');
      if (inProgress.of(key) >= maxInProgress)
        throw refusal('has too many requests of this payment in progress', waitMs);
      inProgress.add(key, 1);
      try {
        const { consumedPoints, msBeforeNext } = await countLookUp(
          createHash('sha256').update(key).digest('base64url'),
        );
        if (consumedPoints > maxPerMinute)
          throw refusal('has had too many requests of this payment in a minute', msBeforeNext);
        return await request();
      } finally {
        inProgress.add(key, -1);
      }
    },
    /** Whether an event that found no result for its payment is retried: only the oldest event of the payment is. */
    isRetried: (payment: Payment, eventId: string): boolean => {
      const key = keyOf(payment);
      // The ids of events are in the order of their arrival, so that all instances choose the same one, the oldest.
      const oldest = retried.get(key);
      if (oldest !== undefined && oldest < eventId) return false;
      // Every attempt keeps the others waiting for as long again.
      retried.set(key, eventId);
      return true;
    },
    /** The event is over, so that the next one without a result is retried. */
    forget: (payment: Payment, eventId: string): void => {
      const key = keyOf(payment);
      if (retried.get(key) === eventId) retried.delete(key);
    },
  };
};
