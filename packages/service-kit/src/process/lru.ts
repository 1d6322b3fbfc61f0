import { LRUCache } from 'lru-cache';

/**
 * A cache of up to `max` entries, each kept for `ttl` ms, that evicts the least recently used. It grows with its entries:
 * lru-cache's own `max` takes memory for all of them at once, 44 bytes each. With `create`, `memo` makes missing entries.
 */
export const createLru = <Key extends {}, Value extends {}>(
  max: number,
  ttl = 0,
  create?: (key: Key) => Value,
): LRUCache<Key, Value> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1, ttl, ...(create && { memoMethod: create }) });
