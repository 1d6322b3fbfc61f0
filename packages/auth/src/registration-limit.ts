import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { createLimiter } from '@platform/service-kit/counter';
import { TooManyRequests } from '@platform/service-kit/problem';
import { networkOf } from '@platform/service-kit/network';
import { consume } from './consume.ts';

export interface RegistrationLimitOptions {
  /** Start of the Redis keys: the service's name. */
  name: string;
  redis: Redis | undefined;
  /** Registrations from one network (IPv6: /64) in ten minutes. */
  perNetwork: number;
  /** Registrations of one email in an hour; default 10. */
  perEmail?: number;
}

/** Counts one registration, whatever its outcome; throws TooManyRequests beyond the limits. */
export type RegistrationLimit = (attempt: { email: string; address: string | undefined }) => Promise<void>;

const refused = (seconds: number) => new TooManyRequests(seconds, 'Too many registrations; try again later.');

/**
 * Limits registrations by network and by email. Call it before the password is hashed: a hash costs
 * 30 ms of a core. Redis holds a hash of the email, not the email.
 */
export const createRegistrationLimit = ({
  name,
  redis,
  perNetwork,
  perEmail = 10,
}: RegistrationLimitOptions): RegistrationLimit => {
  const prefix = `${name}:register`;
  const networks = createLimiter({ redis, prefix: `${prefix}-network`, points: perNetwork, seconds: 600 });
  const emails = createLimiter({ redis, prefix: `${prefix}-email`, points: perEmail, seconds: 3600 });
  return async ({ email, address }) => {
    await consume(networks, networkOf(address), 1, refused);
    await consume(emails, createHash('sha256').update(email).digest('base64url'), 1, refused);
  };
};
