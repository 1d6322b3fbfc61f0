import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-limit';
import { TooManyRequests } from '@platform/service-kit/problem';
import { networksOf, widestNetworkOf } from '@platform/service-kit/network';

export interface AddressLimitOptions {
  /** Prefix of the Redis keys: the name of the service. */
  name: string;
  /** The counted requests; each purpose has its own keys. */
  purpose: 'register' | 'mail';
  redis: Redis | undefined;
  /** Requests from one network in ten minutes. An IPv6 /56 may send 4 times, a /48 16 times as many as a /64. */
  perNetwork: number;
}

/**
 * Requests for one email address per hour. Requests for mails are counted per pair of email address and widest network of the
 * client: otherwise a stranger could use up the limit of somebody else's address.
 */
const perEmail = { register: 10, mail: 5 };

/** Limiter created by `createAddressLimit`. */
export type AddressLimit = ReturnType<typeof createAddressLimit>;

/** Creates a function that counts an attempt for a key and throws TooManyRequests beyond `factor` times the points. */
export const createKeyLimit = (options: RateCounterOptions) => {
  const count = createRateCounter(options);
  return async (key: string, factor = 1): Promise<void> => {
    const { consumedPoints, msBeforeNext } = await count(key);
    if (consumedPoints > options.points * factor)
      throw new TooManyRequests(msBeforeNext / 1000, 'Too many requests; try again later.');
  };
};

/**
 * Limits requests that anybody may send for any email address. The returned function counts a request by network and by email,
 * whatever its outcome, and throws TooManyRequests beyond the limits. Call it before hashing a password (30 ms of CPU) or
 * sending a mail. Redis stores a hash of the email, not the email.
 */
export const createAddressLimit = ({ name, purpose, redis, perNetwork }: AddressLimitOptions) => {
  const prefix = `${name}:${purpose}`;
  const network = { redis, prefix: `${prefix}-network`, points: perNetwork, seconds: 600 };
  const countNetwork = createKeyLimit(network);
  const email = { redis, prefix: `${prefix}-email`, points: perEmail[purpose], seconds: 3600 };
  const countEmail = createKeyLimit(email);
  return async ({ email, address }: { email: string; address: string | undefined }): Promise<void> => {
    const networks = networksOf(address);
    // One after the other: a request that a network refuses must not count for the wider networks.
    for (const network of networks) await countNetwork(network.name, network.factor);
    const from = purpose === 'mail' ? `\0${widestNetworkOf(address)}` : '';
    await countEmail(createHash('sha256').update(`${email}${from}`).digest('base64url'));
  };
};
