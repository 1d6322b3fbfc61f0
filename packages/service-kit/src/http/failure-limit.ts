import type { IncomingMessage } from 'node:http';
import { createLru } from '../process/lru.ts';
import type { ClientAddress } from './client-address.ts';
import { networkOf } from './network.ts';
import { TooManyRequests } from './problem.ts';
import { createCounter, type CounterOptions } from './counter.ts';

/** Limits how many unknown credentials a network (IPv4 address, IPv6 /64) may try. */
export interface FailureLimit {
  /**
   * Throws TooManyRequests while the network of this request is over its limit. Call it before a
   * credential is looked up. It reads process memory only.
   */
  check(req: IncomingMessage): void;
  /**
   * Counts an unknown credential. `credential` is a hash of it: the same one counts once a
   * minute, so that one misconfigured client does not use up the limit of its network.
   */
  count(req: IncomingMessage, credential: string): Promise<void>;
}

const maxNetworks = 100_000;
const maxCredentials = 20_000;
const minute = 60_000;

export const noFailureLimit: FailureLimit = { check: () => undefined, count: async () => undefined };

/**
 * Failures are counted in Redis, so that all instances share them. A network that is over its limit is
 * remembered in process memory until its minute ends: a request of another network pays nothing.
 */
export const createFailureLimit = (options: CounterOptions, addressOf: ClientAddress): FailureLimit => {
  const count = createCounter(options);
  const blocked = createLru<string, true>(maxNetworks, minute);
  const counted = createLru<string, true>(maxCredentials, minute);
  return {
    check: (req) => {
      if (blocked.size === 0) return;
      const network = networkOf(addressOf(req));
      if (!blocked.has(network)) return;
      const detail = 'Too many unknown credentials from this network; check yours and try again later.';
      throw new TooManyRequests(blocked.getRemainingTTL(network) / 1000, detail);
    },
    count: async (req, credential) => {
      const network = networkOf(addressOf(req));
      const attempt = `${network} ${credential}`;
      if (counted.has(attempt)) return;
      counted.set(attempt, true);
      const { consumedPoints, msBeforeNext } = await count(network);
      if (consumedPoints >= options.perMinute) blocked.set(network, true, { ttl: Math.max(1, msBeforeNext) });
    },
  };
};
