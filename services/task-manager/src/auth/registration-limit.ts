import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createRateCounter, type RateCounterOptions } from '@platform/service-kit/rate-counter';
import { TooManyRequests } from '@platform/service-kit/problem';
import { networksOf } from '@platform/service-kit/network';

export interface RegistrationLimitOptions {
  /** Start of the Redis keys: the service's name. */
  name: string;
  redis: Redis | undefined;
  /** Registrations from one network in ten minutes. An IPv6 /56 may have 4, a /48 16 times as many as a /64. */
  perNetwork: number;
}

/** Registrations of one email in an hour. */
const perEmail = 10;

/** What `createRegistrationLimit` makes. */
export type RegistrationLimit = ReturnType<typeof createRegistrationLimit>;

/** Counts an attempt against a key, which may have `factor` times the points. Throws TooManyRequests beyond them. */
const createRefusing = (options: RateCounterOptions) => {
  const count = createRateCounter(options);
  return async (key: string, factor = 1): Promise<void> => {
    const { consumedPoints, msBeforeNext } = await count(key);
    if (consumedPoints > options.points * factor)
      throw new TooManyRequests(msBeforeNext / 1000, 'Too many registrations; try again later.');
  };
};

/**
 * Makes a function that counts one registration by network and by email, whatever its outcome, and throws TooManyRequests
 * beyond the limits. Call it before the password is hashed: a hash costs 30 ms of a core. Redis holds a hash of the email,
 * not the email.
 */
export const createRegistrationLimit = ({ name, redis, perNetwork }: RegistrationLimitOptions) => {
  const prefix = `${name}:register`;
  const network = { redis, prefix: `${prefix}-network`, points: perNetwork, seconds: 600 };
  const countNetwork = createRefusing(network);
  const countEmail = createRefusing({ redis, prefix: `${prefix}-email`, points: perEmail, seconds: 3600 });
  return async ({ email, address }: { email: string; address: string | undefined }): Promise<void> => {
    // One after the other: what a network refuses must not use up the limits of the wider ones.
    for (const network of networksOf(address)) await countNetwork(network.name, network.factor);
    await countEmail(createHash('sha256').update(email).digest('base64url'));
  };
};
