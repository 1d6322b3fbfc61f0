import type { Redis } from 'ioredis';
import { createMemoryBackoff } from './backoff-memory.ts';
import { createRedisBackoff, keysOf } from './backoff-redis.ts';
import type { Bucket, Count } from './backoff-rules.ts';

/** An attempt that was counted as failed in these buckets. */
export interface Counted extends Count {
  /** Takes the counts back: of the buckets with these keys, or of all. Never rejects. */
  undo(keys?: readonly string[]): Promise<void>;
}

/** Makes buckets that fail too often wait, longer each time. */
export const createBackoff = (redis: Redis | undefined) => {
  const memory = createMemoryBackoff();
  const shared = redis && createRedisBackoff(redis);
  return {
    /**
     * Counts an attempt as failed in all buckets before its outcome is known, so that concurrent attempts can't all pass.
     * One round trip to Redis; in the memory of this process while Redis does not answer.
     */
    count: async (buckets: readonly Bucket[]): Promise<Counted> => {
      const answer = await shared?.count(buckets);
      const count = answer ?? memory.count(buckets);
      const store = answer === undefined ? memory : shared;
      return {
        ...count,
        undo: async (keys = keysOf(buckets)) => {
          const isMeant = buckets.map(({ key }) => keys.includes(key));
          if (!isMeant.includes(true)) return;
          const only = <T>(values: readonly T[]) => values.filter((_, at) => isMeant[at]);
          await store?.undo(only(buckets), only(count.seconds));
        },
      };
    },
    /** Forgets the failures and waits of buckets. Never rejects. */
    clear: async (keys: readonly string[]): Promise<void> => {
      memory.clear(keys);
      await shared?.clear(keys);
    },
  };
};
