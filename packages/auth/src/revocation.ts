import type { Redis } from 'ioredis';
import { askRedis } from '@platform/service-kit/redis';

export interface RevocationOptions {
  redis: Redis | undefined;
  /** Of the keys in Redis, for example `task-manager:revoked`. */
  prefix: string;
  /** As long as anything that is revoked could otherwise still be used. */
  ttlSeconds: number;
  /** Asks the database, which knows for certain. */
  isRevoked: (id: string) => Promise<boolean>;
}

export interface Revocation {
  /** Tells all instances. The database must know already. Never rejects. */
  revoke: (id: string) => Promise<void>;
  /** Rejects when neither Redis remembers the id nor the database answers. */
  isRevoked: (id: string) => Promise<boolean>;
}

/**
 * What has been revoked. Redis is believed when it remembers an id, so that a revoked session is
 * refused even while the database is away or slow; its silence says nothing, because it may have
 * been lost, flushed or full. Then the database's answer counts.
 */
export const createRevocation = ({ redis, prefix, ttlSeconds, isRevoked }: RevocationOptions): Revocation => {
  const keyOf = (id: string): string => `${prefix}:${id}`;
  return {
    revoke: async (id) => {
      await askRedis(redis, (open) => open.set(keyOf(id), '1', 'EX', ttlSeconds));
    },
    isRevoked: (id) => {
      const certain = isRevoked(id);
      const remembered = askRedis(redis, (open) => open.exists(keyOf(id)));
      // Whichever knows first: a Redis that hangs must not hold up the database's answer.
      const either = remembered.then((found) => (found === 1 ? true : certain));
      return Promise.any([certain, either]).catch(() => certain);
    },
  };
};
