import { expect, test } from 'vitest';
import { createPages } from './pages.ts';

const page = (size: number) => ({ version: 'v', json: Buffer.alloc(size) });

test('what does not fit makes room for what is used', async () => {
  const pages = createPages(10_000);
  let reads = 0;
  const ask = (key: string) =>
    pages?.get(key, async () => {
      reads++;
      return page(4000);
    });
  await ask('a');
  await ask('b');
  await ask('a');
  expect(reads).toBe(2);
  await ask('c');
  await ask('a');
  expect(reads).toBe(3);
  await ask('b');
  expect(reads).toBe(4);
});

test('a page larger than the memory is given, but not kept', async () => {
  const pages = createPages(1000);
  let reads = 0;
  const ask = async () =>
    (
      await pages?.get('a', async () => {
        reads++;
        return page(5000);
      })
    )?.json.length;
  expect([await ask(), await ask(), reads]).toEqual([5000, 5000, 2]);
});

test('several who wait for a page read it once; a failure is not kept', async () => {
  const pages = createPages(10_000);
  let reads = 0;
  const failing = () => {
    reads++;
    return Promise.reject(new Error('away'));
  };
  const both = await Promise.allSettled([pages?.get('a', failing), pages?.get('a', failing)]);
  expect([both.map(({ status }) => status), reads]).toEqual([['rejected', 'rejected'], 1]);
  expect(await pages?.get('a', async () => page(1))).toEqual(page(1));
});

test('0 bytes is no cache', () => {
  expect(createPages(0)).toBeUndefined();
});
