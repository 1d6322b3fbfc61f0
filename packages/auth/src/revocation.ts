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

/** Return type of `createRevocation`. */
export type Revocation = ReturnType<typeof createRevocation>;

/**
 * Keeps revoked ids in Redis, for times when the database does not answer. Redis may have been lost, flushed or full, so
 * a missing id proves nothing.
 */
export const createRevocation = ({ redis, prefix, ttlSeconds, isRevoked }: RevocationOptions) => {
  const keyOf = (id: string): string => `${prefix}:${id}`;
  return {
    /** Stores the revocation for all instances; change the database first. Never rejects. */
    revoke: async (id: string): Promise<void> => {
      await askRedis(redis, (open) => open.set(keyOf(id), '1', 'EX', ttlSeconds));
    },
    /** Rejects when the database does not answer and Redis does not know the id. */
    isRevoked: async (id: string): Promise<boolean> => {
      try {
        return await isRevoked(id);
      } catch (error) {
        if ((await askRedis(redis, (open) => open.exists(keyOf(id)))) === 1) return true;
        throw error;
      }
    },
  };
};
