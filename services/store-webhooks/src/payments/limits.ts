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

/** Maximum number of concurrent requests to the provider for one payment: a customer may reload the page during one. */
const maxInProgress = 2;
/** Maximum number of lookups at the provider per minute for one payment, in all instances. Each lookup has two attempts. */
const maxPerMinute = 10;
/** Delay until a worker tries the event again, in milliseconds. */
const waitMs = 1000;

/** How long after an attempt no other event of the payment is retried; longer than any wait until the next attempt. */
const retriedMs = 2 * 3_600_000;

const keyOf = ({ storeId, service, transactionId }: Payment): string =>
  JSON.stringify([storeId, service, transactionId]);

export type PaymentLimit = ReturnType<typeof createPaymentLimit>;

/**
 * Limits the requests of each payment: a customer can send any number of challenges for a payment. Without the limit they would
 * use up the limit of the provider, which all customers of the store share, and keep the workers busy with retries.
 */
export const createPaymentLimit = (redis?: RateCounterOptions['redis']) => {
  const countLookup = createRateCounter({
    redis,
    prefix: 'store-webhooks:asked',
    points: maxPerMinute,
    seconds: 60,
  });
  const inProgress = createTally();
  const retriedEvents = createLru<string, string>(10_000, retriedMs);
  return {
    /**
     * Runs a request to the provider for a payment. Rejects with ProviderBusy if the payment has too many in progress or in
     * this minute.
     */
    run: async <T>(payment: Payment, request: () => Promise<T>): Promise<T> => {
      const key = keyOf(payment);
      const refusal = (reason: string, ms: number) => new ProviderBusy(payment.service, reason, ms, 'closed');
      if (inProgress.get(key) >= maxInProgress)
        throw refusal('has too many requests of this payment in progress', waitMs);
      inProgress.add(key, 1);
      try {
        const { consumedPoints, msBeforeNext } = await countLookup(
          createHash('sha256').update(key).digest('base64url'),
        );
        if (consumedPoints > maxPerMinute)
          throw refusal('has had too many requests of this payment in a minute', msBeforeNext);
        return await request();
      } finally {
        inProgress.add(key, -1);
      }
    },
    /** Whether an event without a result for its payment is retried: only the oldest event of the payment is. */
    isRetried: (payment: Payment, eventId: string): boolean => {
      const key = keyOf(payment);
      // Event ids sort by time of receipt, so all instances choose the same event, the oldest.
      const oldest = retriedEvents.get(key);
      if (oldest !== undefined && oldest < eventId) return false;
      // Every attempt restarts the time for which the other events wait.
      retriedEvents.set(key, eventId);
      return true;
    },
    /** Call this when the event is finished, so that the next one without a result is retried. */
    forget: (payment: Payment, eventId: string): void => {
      const key = keyOf(payment);
      if (retriedEvents.get(key) === eventId) retriedEvents.delete(key);
    },
  };
};

/** Limits per network and store for events that settle no payment: events in progress, and events stored per minute. */
const [maxUnsettled, eventsPerMinute] = [10, 10];
/** KiB of their bodies that are stored per day. */
const kibPerDay = 1024;
/** All networks of a store together may use this many times as much. */
const storeFactor = 20;

export type UnsettledLimit = ReturnType<typeof createUnsettledLimit>;

/**
 * Limits the events that are stored without settling a payment, such as those of invented transactions and repeats. Anybody can
 * send them, because the payments token is in the browser of every customer, and they would keep the inbox of all stores busy
 * and fill its disk. An event over the limit is answered but not stored. Counts are shared through Redis; an instance
 * only knows the counts of keys that it has added to.
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
    /** Starts to count an event of `bytes`; undefined if it may not be stored. */
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
        /** Call this when the event was answered; it counts unless it settled a payment. Does not wait for the counters. */
        end: (isSettled: boolean): void => {
          for (const { key, factor } of limits) {
            inProgress.add(key, -1);
            if (isSettled) continue;
            // A failed count is lost, because it must not fail the response. `take` counts the first KiB, `add` the others.
            for (const counter of [events, sizes])
              void Promise.resolve(counter.take(key, factor)).catch(() => undefined);
            sizes.add(key, Math.floor(bytes / 1024));
          }
        },
      };
    },
  };
};
