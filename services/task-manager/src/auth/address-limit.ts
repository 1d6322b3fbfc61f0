import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';
import { TooManyRequests } from '@platform/service-kit/problem';
import { networksOf, widestNetworkOf } from '@platform/service-kit/network';

export interface AddressLimitOptions {
  /** Start of the Redis keys: the service's name. */
  name: string;
  /** What is counted; each has keys of its own. */
  purpose: 'register' | 'mail';
  redis: Redis | undefined;
  /** Requests from one network in ten minutes. An IPv6 /56 may have 4, a /48 16 times as many as a /64. */
  perNetwork: number;
}

/**
 * Requests for one email address in an hour. Requests for mails are counted per email address and widest network of
 * the client: otherwise a stranger could use up the limit of somebody else's address.
 */
const perEmail = { register: 10, mail: 5 };

/** What `createAddressLimit` makes. */
export type AddressLimit = ReturnType<typeof createAddressLimit>;

/** Counts an attempt against a key, which may have `factor` times the points. Throws TooManyRequests beyond them. */
export const createKeyLimit = (options: RateCounterOptions) => {
  const count = createRateCounter(options);
  return async (key: string, factor = 1): Promise<void> => {
    const { consumedPoints, msBeforeNext } = await count(key);
    if (consumedPoints > options.points * factor)
      throw new TooManyRequests(msBeforeNext / 1000, 'Too many requests of this kind; try again later.');
  };
};

/**
 * Makes a function that counts one request that anybody may make for any email address, by network and by email, whatever
 * its outcome, and throws TooManyRequests beyond the limits. Call it before anything is hashed or sent: a hash costs 30 ms
 * of a core. Redis holds a hash of the email, not the email.
 */
export const createAddressLimit = ({ name, purpose, redis, perNetwork }: AddressLimitOptions) => {
  const prefix = `${name}:${purpose}`;
  const network = { redis, prefix: `${prefix}-network`, points: perNetwork, seconds: 600 };
  const countNetwork = createKeyLimit(network);
  const email = { redis, prefix: `${prefix}-email`, points: perEmail[purpose], seconds: 3600 };
  const countEmail = createKeyLimit(email);
  return async ({ email, address }: { email: string; address: string | undefined }): Promise<void> => {
    const networks = networksOf(address);
    // One after the other: what a network refuses must not use up the limits of the wider ones.
    for (const network of networks) await countNetwork(network.name, network.factor);
    const from = purpose === 'mail' ? `\0${widestNetworkOf(address)}` : '';
    await countEmail(createHash('sha256').update(`${email}${from}`).digest('base64url'));
  };
};
