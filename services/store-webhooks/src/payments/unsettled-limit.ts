import { createBatchedRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-counter';

/** Events a minute that a network may have stored for a store although they settle no payment. */
const perMinute = 10;
/** How many times that all networks together may. */
const allNetworks = 20;

/**
 * Limits the events that are stored without settling a payment, such as those of invented transactions: anybody can send
 * them, because the payments token is in the browser of every customer, and they would fill the disk of all stores.
 */
export interface UnsettledLimit {
  /** Whether the next event of a network is stored. It is answered in any case. */
  allows(storeId: string, network: string): boolean;
  count(storeId: string, network: string): Promise<void>;
}

/** The counts are shared through Redis; each process knows those that it took part in. */
export const createUnsettledLimit = (redis: RateCounterOptions['redis']): UnsettledLimit => {
  const counter = createBatchedRateCounter({
    redis,
    prefix: 'store-webhooks:unsettled',
    points: perMinute,
    seconds: 60,
  });
  const networkKey = (storeId: string, network: string): string => `${storeId} ${network}`;
  return {
    allows: (storeId, network) =>
      [networkKey(storeId, network), storeId].every((key) => counter.exceeded(key) === undefined),
    count: async (storeId, network) => {
      await Promise.all([counter.take(networkKey(storeId, network)), counter.take(storeId, allNetworks)]);
    },
  };
};
