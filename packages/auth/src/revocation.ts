import type { Redis } from 'ioredis';
import { askRedis } from '@platform/service-kit/redis';

export interface RevocationOptions {
  redis: Redis | undefined;
  /** Start of the Redis keys, for example `task-manager:ended`. */
  prefix: string;
  /** The longest time for which a revoked id could otherwise still be used. */
  ttlSeconds: number;
  /** Asks the database, whose answer decides. */
  isRevoked: (id: string) => Promise<boolean>;
}

export interface Revocation {
  /** Tells all instances; change the database first. Never rejects. */
  revoke: (id: string) => Promise<void>;
  /** Rejects when Redis does not know the id and the database does not answer. */
  isRevoked: (id: string) => Promise<boolean>;
}

/**
 * Remembers revoked ids. An id that Redis knows is revoked, also while the database is down or slow. An
 * id that Redis does not know may still be revoked, because Redis may have been lost, flushed or full:
 * then the database decides.
 */
export const createRevocation = ({ redis, prefix, ttlSeconds, isRevoked }: RevocationOptions): Revocation => {
  const keyOf = (id: string): string => `${prefix}:${id}`;
  return {
    revoke: async (id) => {
      await askRedis(redis, (open) => open.set(keyOf(id), '1', 'EX', ttlSeconds));
    },
    isRevoked: (id) => {
      const stored = isRevoked(id);
      const remembered = askRedis(redis, (open) => open.exists(keyOf(id)));
      // The first to answer decides: a Redis that hangs must not delay the database's answer.
      const either = remembered.then((found) => (found === 1 ? true : stored));
      return Promise.any([stored, either]).catch(() => stored);
    },
  };
};
