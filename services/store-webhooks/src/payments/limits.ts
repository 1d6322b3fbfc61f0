import { createHash } from 'node:crypto';
import { createLru } from '@platform/service-kit/lru';
import {
  createBatchedRateCounter,
  createRateCounter,
  type RateCounterOptions,
} from '@platform/service-kit/rate-limit';
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
      if (inProgress.get(key) >= maxInProgress)
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

/** Events that settle no payment: in progress at the same time, and stored in a minute, for a network at a store. */
const [maxUnsettled, eventsPerMinute] = [10, 10];
/** KiB of their bodies that are stored in a day. */
const kibPerDay = 1024;
/** How many times that for all networks of a store together. */
const storeFactor = 20;

export type UnsettledLimit = ReturnType<typeof createUnsettledLimit>;

/**
 * Limits the events that are stored without settling a payment, such as those of invented transactions and repeats:
 * anybody can send them, because the payments token is in the browser of every customer, and they would keep the inbox
 * of all stores busy and fill its disk. An event beyond the limit is answered but not stored. The counts are shared through
 * Redis; each instance knows only those that it has added to.
 */
export const createUnsettledLimit = (redis: RateCounterOptions['redis']) => {
  const prefix = 'store-webhooks:unsettled';
  const events = createBatchedRateCounter({ redis, prefix, points: eventsPerMinute, seconds: 60 });
  const sizes = createBatchedRateCounter({
    redis,
    prefix: `${prefix}-kib`,
    points: kibPerDay,
    seconds: 86_400,
  });
  const inProgress = createTally();
  return {
    /** Begins an event of `bytes`; undefined when it may not be stored. */
    begin: (storeId: string, network: string, bytes: number) => {
      const limits = [
        { key: `${storeId} ${network}`, factor: 1 },
        { key: storeId, factor: storeFactor },
      ];
      const isFull = ({ key, factor }: { key: string; factor: number }): boolean =>
        inProgress.get(key) >= maxUnsettled * factor ||
        [events, sizes].some((counter) => counter.exceeded(key) !== undefined);
      if (limits.some(isFull)) return undefined;
      for (const { key } of limits) inProgress.add(key, 1);
      return {
        /** The event has been answered; it counts unless it settled a payment. The answer waits for no count. */
        end: (isSettled: boolean): void => {
          for (const { key, factor } of limits) {
            inProgress.add(key, -1);
            if (isSettled) continue;
            // A count that fails is missing, and must not fail the answer. `take` counts the first KiB, `add` the others.
            for (const counter of [events, sizes])
              void Promise.resolve(counter.take(key, factor)).catch(() => undefined);
            sizes.add(key, Math.floor(bytes / 1024));
          }
        },
      };
    },
  };
};
