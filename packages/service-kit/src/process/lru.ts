import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of up to `max` entries that evicts the least recently used one. Entries expire after `ttl` ms. `memo`
 * calls `create` for a missing entry. Uses `maxSize`, because lru-cache's `max` allocates 44 bytes per possible entry.
 */
export const createLru = <Key extends {}, Value extends {}>(
  max: number,
  ttl = 0,
  create?: (key: Key) => Value,
): LRUCache<Key, Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1, ttl, ...(create && { memoMethod: create }) });
