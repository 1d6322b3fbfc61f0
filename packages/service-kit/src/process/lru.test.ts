import { expect, test } from 'vitest';
import { createLru } from './lru.ts';

test('the least recently used entry beyond the maximum is evicted', () => {
  const cache = createLru<string, number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
});

test('an entry expires after its time', async () => {
  const cache = createLru<string, number>(2, 20);
  cache.set('a', 1);
  await expect.poll(() => cache.get('a')).toBeUndefined();
});

test('an empty cache allocates no memory for its maximum number of entries', () => {
  const before = process.memoryUsage().heapUsed;
  const caches = Array.from({ length: 20 }, () => createLru<string, number>(1_000_000));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  expect(caches).toHaveLength(20);
});
