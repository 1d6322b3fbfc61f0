import { expect, test } from 'vitest';
import { createPages, type Pages } from './pages.ts';

const page = (size: number) => ({ version: 'v', json: Buffer.alloc(size) });

const cacheOf = (bytes: number): Pages => createPages(bytes) ?? expect.fail('no cache');

/** Requests pages of a size; `reads` has the keys of those that were not cached. */
const reader = (pages: Pages) => {
  const reads: string[] = [];
  const request = async (key: string, size: number): Promise<void> => {
    await pages(key, async () => {
      reads.push(key);
      return page(size);
    });
  };
  return { reads, request };
};

test('the least recently used page is evicted', async () => {
  // Room for 24 pages of this size.
  const { reads, request } = reader(cacheOf(320_000));
  const size = 9300;
  for (let n = 0; n < 24; n++) await request(`${n}`, size);
  await request('0', size);
  expect(reads).toHaveLength(24);
  await request('24', size);
  await request('0', size);
  expect(reads).toHaveLength(25);
  await request('1', size);
  expect(reads.at(-1)).toBe('1');
});

test('large pages evict each other, and no other pages', async () => {
  const { reads, request } = reader(cacheOf(320_000));
  await request('hot', 1000);
  for (let n = 0; n < 10; n++) await request(`${n}`, 50_000);
  await request('hot', 1000);
  await request('9', 50_000);
  expect(reads).toHaveLength(11);
  await request('0', 50_000);
  expect(reads.at(-1)).toBe('0');
});

test('a page larger than the memory is returned but not cached', async () => {
  const pages = cacheOf(1000);
  let reads = 0;
  const request = async () =>
    (
      await pages('a', async () => {
        reads++;
        return page(5000);
      })
    )?.json.length;
  expect([await request(), await request(), reads]).toEqual([5000, 5000, 2]);
});

test('concurrent requests for a page read it once', async () => {
  const pages = cacheOf(10_000);
  let reads = 0;
  const request = () => pages('a', async () => (reads++, page(1)));
  expect(await Promise.all([request(), request()])).toEqual([page(1), page(1)]);
  expect(reads).toBe(1);
});

test('a failure and a missing quest are not cached', async () => {
  const pages = cacheOf(10_000);
  const failing = () => Promise.reject(new Error('away'));
  const both = await Promise.allSettled([pages('a', failing), pages('a', failing)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await pages('a', async () => undefined)).toBeUndefined();
  expect(await pages('a', async () => page(1))).toEqual(page(1));
});

test('with 0 bytes there is no cache', () => {
  expect(createPages(0)).toBeUndefined();
});

test('the cache holds only the memory that it counts', async () => {
  const bytes = 1_000_000;
  const pages = cacheOf(bytes);
  const text = 'x'.repeat(100);
  const cached = new Set<ArrayBufferLike>();
  // Node.js allocates small buffers in blocks that other requests share.
  for (let n = 0; n < 1000; n++) {
    const read = async () => ({ version: 'v', json: Buffer.from(text) });
    cached.add((await pages(`${n}`, read))?.json.buffer ?? new ArrayBuffer(0));
    Buffer.from('y'.repeat(5000));
  }
  const held = [...cached].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(held).toBe(1000 * text.length);
});
