import type { IncomingMessage } from 'node:http';
import { createLru } from '../process/lru.ts';
import { networksOf, type ClientAddress } from '../http/network.ts';
import { TooManyRequests, type CredentialKind, type UnknownCredential } from '../http/problem.ts';
import { createRateCounter, type RateCounterOptions } from './rate-limit.ts';

export type GuessLimit = ReturnType<typeof createGuessLimit>;

const maxNetworks = 100_000;
const maxCredentials = 20_000;
const minute = 60_000;

/**
 * Look-ups a second that a process still allows a network over its limit, and all such networks together. Only for webhook
 * tokens: many shops share the addresses of their hosting provider, and the process does not remember a shop that sends rarely.
 */
const spareLookups = { kind: 'path_token', perNetwork: 10, total: 100 };

export const noGuessLimit: GuessLimit = { check: () => undefined, count: async () => undefined };

/** Returns a function that takes one of the spare look-ups of this second; false if there is none. */
const createSpareLookups = () => {
  const taken = createLru<string, number>(maxNetworks, 1000);
  const take = (key: string, max: number): boolean => {
    const count = taken.get(key) ?? 0;
    // Keeps the remaining time, because the second starts at the first look-up.
    taken.set(key, count + 1, count === 0 ? {} : { ttl: Math.max(1, taken.getRemainingTTL(key)) });
    return count < max;
  };
  return (kind: CredentialKind, network: string): boolean =>
    kind === spareLookups.kind && take(network, spareLookups.perNetwork) && take('', spareLookups.total);
};

/**
 * Limits how many unknown credentials of each kind a network may send: an IPv4 address or an IPv6 /64, and with higher limits
 * its /56 and /48. The kinds are counted separately, because a web page can send guesses of one kind from its visitors' network.
 *
 * Guesses are counted in Redis, so that all instances share the counts. Networks over their limit are remembered in process
 * memory until their minute ends, so that checking costs no round trip.
 */
export const createGuessLimit = (options: RateCounterOptions, addressOf: ClientAddress) => {
  const count = createRateCounter(options);
  const blocked = createLru<string, true>(maxNetworks, minute);
  const counted = createLru<string, true>(maxCredentials, minute);
  const takeSpare = createSpareLookups();
  const bucketsOf = (req: IncomingMessage, kind: CredentialKind) =>
    networksOf(addressOf(req)).map(({ name, factor }) => ({
      key: `${kind}:${name}`,
      max: options.points * factor,
    }));
  return {
    /**
     * Throws TooManyRequests while a network of this request is over its limit. Call it before looking up a credential that may
     * be a guess. Reads only process memory.
     */
    check: (req: IncomingMessage, kind: CredentialKind): void => {
      if (blocked.size === 0) return;
      // Uses the widest blocked network, so that all its addresses share the spare look-ups.
      const bucket = bucketsOf(req, kind).findLast(({ key }) => blocked.has(key));
      if (bucket === undefined || takeSpare(kind, bucket.key)) return;
      const detail = 'Too many unknown credentials from this network; check yours and try again later.';
      throw new TooManyRequests(blocked.getRemainingTTL(bucket.key) / 1000, detail);
    },
    /**
     * Counts an unknown credential. The same credential counts once a minute, so that one misconfigured client does not use up
     * the limit of its network.
     */
    count: async (req: IncomingMessage, { kind, hash }: UnknownCredential): Promise<void> => {
      const buckets = bucketsOf(req, kind);
      const attempt = `${buckets[0]?.key} ${hash}`;
      if (counted.has(attempt)) return;
      counted.set(attempt, true);
      // In parallel, so that they need one round trip.
      await Promise.all(
        buckets.map(async ({ key, max }) => {
          const { consumedPoints, msBeforeNext } = await count(key);
          if (consumedPoints >= max) blocked.set(key, true, { ttl: Math.max(1, msBeforeNext) });
        }),
      );
    },
  };
};
