import { createBatchedRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';
import { createTally } from '@platform/service-kit/tally';

/** Events that settle no payment: in progress at the same time, and stored in a minute, for a network at a store. */
const [maxInProgress, eventsPerMinute] = [10, 10];
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
        inProgress.of(key) >= maxInProgress * factor ||
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
