import type { IncomingMessage } from 'node:http';
import { createLru } from '../process/lru.ts';
import { networksOf, type ClientAddress } from '../http/network.ts';
import { TooManyRequests, type CredentialKind, type UnknownCredential } from '../http/problem.ts';
import { createRateCounter, type RateCounterOptions } from './rate-limit.ts';

/** What `createGuessLimit` makes. */
export type GuessLimit = ReturnType<typeof createGuessLimit>;

const maxNetworks = 100_000;
const maxCredentials = 20_000;
const minute = 60_000;

/**
 * Look-ups a second that a network over its limit keeps, in each process, and all such networks together. Only webhook
 * tokens: many shops share the addresses of their provider, and a shop that sends seldom is not known to the process.
 */
const spareLookups = { kind: 'path_token', perNetwork: 10, inAll: 100 };

export const noGuessLimit: GuessLimit = { check: () => undefined, count: async () => undefined };

/** Takes one of the spare look-ups of this second; false when there is none. */
const createSpareLookups = () => {
  const taken = createLru<string, number>(maxNetworks, 1000);
  const take = (key: string, most: number): boolean => {
    const count = taken.get(key) ?? 0;
    // The second lasts from the first look-up: a later one does not extend it.
    taken.set(key, count + 1, count === 0 ? {} : { ttl: Math.max(1, taken.getRemainingTTL(key)) });
    return count < most;
  };
  return (kind: CredentialKind, network: string): boolean =>
    kind === spareLookups.kind && take(network, spareLookups.perNetwork) && take('', spareLookups.inAll);
};

/**
 * Limits how many unknown credentials of a kind a network may try: an IPv4 address or an IPv6 /64, and with higher limits
 * its /56 and /48. The kinds are counted apart: a web page can send guesses of one kind from the network of its visitors.
 *
 * Failures are counted in Redis, so that all instances share them. A network that is over its limit is remembered in process
 * memory until its minute ends: a request of another network pays nothing.
 */
export const createGuessLimit = (options: RateCounterOptions, addressOf: ClientAddress) => {
  const count = createRateCounter(options);
  const blocked = createLru<string, true>(maxNetworks, minute);
  const counted = createLru<string, true>(maxCredentials, minute);
  const takeSpare = createSpareLookups();
  const bucketsOf = (req: IncomingMessage, kind: CredentialKind) =>
    networksOf(addressOf(req)).map(({ name, factor }) => ({
      key: `${kind}:${name}`,
      most: options.points * factor,
    }));
  return {
    /**
     * Throws TooManyRequests while a network of this request is over its limit. Call it before a credential is looked up
     * that may be a guess. It reads process memory only.
     */
    check: (req: IncomingMessage, kind: CredentialKind): void => {
      if (blocked.size === 0) return;
      // The widest one, so that its addresses share the spare look-ups.
      const full = bucketsOf(req, kind).findLast(({ key }) => blocked.has(key));
      if (full === undefined || takeSpare(kind, full.key)) return;
      const detail = 'Too many unknown credentials from this network; check yours and try again later.';
      throw new TooManyRequests(blocked.getRemainingTTL(full.key) / 1000, detail);
    },
    /**
     * Counts an unknown credential. The same one counts once a minute, so that one misconfigured client does not use up the
     * limit of its network.
     */
    count: async (req: IncomingMessage, { kind, hash }: UnknownCredential): Promise<void> => {
      const buckets = bucketsOf(req, kind);
      const attempt = `${buckets[0]?.key} ${hash}`;
      if (counted.has(attempt)) return;
      counted.set(attempt, true);
      // Sent together, which is one round trip.
      await Promise.all(
        buckets.map(async ({ key, most }) => {
          const { consumedPoints, msBeforeNext } = await count(key);
          if (consumedPoints >= most) blocked.set(key, true, { ttl: Math.max(1, msBeforeNext) });
        }),
      );
    },
  };
};
