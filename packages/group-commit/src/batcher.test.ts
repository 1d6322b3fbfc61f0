import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBatcher, type BatcherOptions } from './batcher.ts';

/** Waits until all work that a finished batch triggers has run. */
const nextTurns = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A batcher whose batches finish when the test calls `finish` or `fail`. The key of an item is its first letter. */
const createManualBatcher = (options: Partial<BatcherOptions<string, string>> = {}) => {
  const batches: { items: readonly string[]; finish(): void; fail(error: Error): void }[] = [];
  const batcher = createBatcher<string, string>({
    keysOf: (item) => [item[0] ?? ''],
    isRolledBack: (error) => (error as Error).message === 'bad data',
    maxBatch: 100,
    maxQueue: 100,
    maxInFlight: 1,
    flush: (items) =>
      new Promise((resolve, reject) => {
        const finish = () => resolve(items.map((item) => item.toUpperCase()));
        batches.push({ items, finish, fail: reject });
      }),
    ...options,
  });
  return { batcher, batches };
};

test('a single item starts immediately; items that arrive meanwhile share the next batch', async () => {
  const { batcher, batches } = createManualBatcher();
  const first = batcher.add('a1');
  await nextTurns();
  expect(batches.map(({ items }) => items)).toEqual([['a1']]);
  const others = [batcher.add('b1'), batcher.add('c1')];
  await nextTurns();
  expect(batches).toHaveLength(1);
  batches[0]?.finish();
  expect(await first).toBe('A1');
  await nextTurns();
  expect(batches[1]?.items).toEqual(['b1', 'c1']);
  batches[1]?.finish();
  expect(await Promise.all(others)).toEqual(['B1', 'C1']);
});

test('a batch stops before the item that would make it too large, and no later item overtakes that item', async () => {
  const { batcher, batches } = createManualBatcher({ sizeOf: (item) => item.length, maxBatchSize: 5 });
  const added = ['aaaaaaa', 'b1', 'c1', 'ddd', 'e'].map((item) => batcher.add(item));
  for (let at = 0; at < 3; at++) {
    await nextTurns();
    batches[at]?.finish();
  }
  await Promise.all(added);
  expect(batches.map(({ items }) => items)).toEqual([['aaaaaaa'], ['b1', 'c1'], ['ddd', 'e']]);
});

test('a second batch starts while the first runs when it is as large', async () => {
  const { batcher, batches } = createManualBatcher({ maxInFlight: 2 });
  const first = ['a1', 'b1'].map((item) => batcher.add(item));
  await nextTurns();
  const third = batcher.add('c1');
  await nextTurns();
  expect(batches.map(({ items }) => items)).toEqual([['a1', 'b1']]);
  const fourth = batcher.add('d1');
  await nextTurns();
  expect(batches.map(({ items }) => items)).toEqual([
    ['a1', 'b1'],
    ['c1', 'd1'],
  ]);
  for (const { finish } of batches) finish();
  expect(await Promise.all([...first, third, fourth])).toEqual(['A1', 'B1', 'C1', 'D1']);
});

test('a second batch starts while a larger one runs when it has 16 items', async () => {
  const { batcher, batches } = createManualBatcher({ maxInFlight: 2, keysOf: () => [] });
  const add = (count: number) => Array.from({ length: count }, (_, at) => batcher.add(`i${at}`));
  const added = add(40);
  await nextTurns();
  added.push(...add(15));
  await nextTurns();
  expect(batches.map(({ items }) => items.length)).toEqual([40]);
  added.push(...add(1));
  await nextTurns();
  expect(batches.map(({ items }) => items.length)).toEqual([40, 16]);
  for (const { finish } of batches) finish();
  expect(await Promise.all(added)).toHaveLength(56);
});

test('the next batch starts before the items of the finished batch get their results', async () => {
  const { batcher, batches } = createManualBatcher();
  const first = batcher.add('a1').then(() => batches.length);
  await nextTurns();
  const second = batcher.add('b1');
  batches[0]?.finish();
  expect(await first).toBe(2);
  batches[1]?.finish();
  expect(await second).toBe('B1');
});

test.each(['connection lost', 'bad data'])(
  'after a batch failed (%s), its callers handle their rejections before the next batch starts',
  async (message) => {
    const { batcher, batches } = createManualBatcher();
    const isRetried = message === 'bad data';
    const first = batcher.add('a1').catch(async () => {
      for (let at = 0; at < 20; at++) await Promise.resolve();
      return batches.map(({ items }) => items);
    });
    await nextTurns();
    const second = batcher.add('b1');
    const error = new Error(message);
    batches[0]?.fail(error);
    if (isRetried) {
      await nextTurns();
      batches[1]?.fail(error);
    }
    expect(await first).toEqual(isRetried ? [['a1'], ['a1']] : [['a1']]);
    await nextTurns();
    batches.at(-1)?.finish();
    expect(await second).toBe('B1');
  },
);

test('a full queue rejects the next item immediately with 503', async () => {
  const { batcher, batches } = createManualBatcher({ maxQueue: 2 });
  const waiting = [batcher.add('a1'), batcher.add('b1')];
  await expect(batcher.add('c1')).rejects.toMatchObject({ status: 503, code: 'too_busy' });
  await nextTurns();
  batches[0]?.finish();
  await Promise.all(waiting);
});

test('an item that waits too long for a batch is rejected with 503 and never processed', async () => {
  const { batcher, batches } = createManualBatcher({ maxWaitMs: 20 });
  const first = batcher.add('a1');
  await nextTurns();
  await expect(batcher.add('a2')).rejects.toMatchObject({ status: 503, code: 'too_busy' });
  batches[0]?.finish();
  expect(await first).toBe('A1');
  await batcher[Symbol.asyncDispose]();
  expect(batches).toHaveLength(1);
});

test('one item does not wait for a larger batch that is stuck', async () => {
  const { batcher, batches } = createManualBatcher({ maxInFlight: 2 });
  const stuck = ['a1', 'b1', 'c1'].map((item) => batcher.add(item));
  await nextTurns();
  const single = batcher.add('d1');
  await expect.poll(() => batches.map(({ items }) => items)).toEqual([['a1', 'b1', 'c1'], ['d1']]);
  for (const { finish } of batches) finish();
  expect(await Promise.all([...stuck, single])).toEqual(['A1', 'B1', 'C1', 'D1']);
});

test('a batch does not run in the async context of the request that started it', async () => {
  const request = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const batcher = createBatcher<string, string>({
    maxBatch: 1,
    maxQueue: 9,
    maxInFlight: 1,
    flush: async (items) => {
      seen.push(request.getStore());
      return items;
    },
  });
  await Promise.all(['a', 'b'].map((item) => request.run(item, () => batcher.add(item))));
  expect(seen).toEqual([undefined, undefined]);
});

test('after a rollback each item is retried alone, so only the bad item fails', async () => {
  const { batcher, batches } = createManualBatcher();
  const both = Promise.allSettled(['a1', 'b1'].map((item) => batcher.add(item)));
  await nextTurns();
  batches[0]?.fail(new Error('bad data'));
  await nextTurns();
  expect(batches[1]?.items).toEqual(['a1']);
  batches[1]?.fail(new Error('bad data'));
  await nextTurns();
  batches[2]?.finish();
  const [a, b] = await both;
  expect([a?.status, b]).toEqual(['rejected', { status: 'fulfilled', value: 'B1' }]);
});

test('after a rollback the batch is split in half and retried, so one bad item of 64 needs 12 more batches', async () => {
  const flushed: number[] = [];
  const { batcher } = createManualBatcher({
    flush: async (items) => {
      flushed.push(items.length);
      if (items.includes('bad')) throw new Error('bad data');
      return items;
    },
    keysOf: () => [],
  });
  const items = Array.from({ length: 64 }, (_, at) => (at === 40 ? 'bad' : `good ${at}`));
  const results = await Promise.allSettled(items.map((item) => batcher.add(item)));
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'bad'))).toEqual(items);
  expect(flushed).toHaveLength(13);
});

test('a batch of one item is also retried once after a rollback, because it may have met a conflict', async () => {
  const { batcher, batches } = createManualBatcher();
  const item = batcher.add('a1');
  await nextTurns();
  batches[0]?.fail(new Error('bad data'));
  await nextTurns();
  batches[1]?.finish();
  expect(await item).toBe('A1');
});

test('after a lost connection no item is retried, because the outcome of the batch is unknown', async () => {
  const { batcher, batches } = createManualBatcher();
  const both = Promise.allSettled(['a1', 'b1'].map((item) => batcher.add(item)));
  await nextTurns();
  batches[0]?.fail(new Error('connection lost'));
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await nextTurns();
  expect(batches).toHaveLength(1);
});

test('a batch with too few results fails, so no item gets the result of another', async () => {
  const batcher = createBatcher<string, string>({
    maxBatch: 9,
    maxQueue: 9,
    maxInFlight: 1,
    flush: async () => ['only one'],
  });
  const both = await Promise.allSettled([batcher.add('a'), batcher.add('b')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('disposal waits for the items that were added before it', async () => {
  const { batcher, batches } = createManualBatcher();
  const item = batcher.add('a1');
  await nextTurns();
  let disposed = false;
  const disposal = batcher[Symbol.asyncDispose]().then(() => (disposed = true));
  await nextTurns();
  expect(disposed).toBe(false);
  batches[0]?.finish();
  expect(await item).toBe('A1');
  await disposal;
});

test('under any load every item gets its own result, and items with a common key run in order and never together', async () => {
  const item = fc.record({
    keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
    pause: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 3 }),
      async (items, maxBatch, maxInFlight) => {
        const running = new Set<string>();
        const order = new Map<string, number[]>();
        let batches = 0;
        const batcher = createBatcher<{ id: number; keys: string[] }, string>({
          maxBatch,
          maxInFlight,
          maxQueue: 1000,
          keysOf: ({ keys }) => keys,
          flush: async (batch) => {
            expect(batch.length).toBeLessThanOrEqual(maxBatch);
            expect(++batches).toBeLessThanOrEqual(maxInFlight);
            for (const { id, keys } of batch)
              for (const key of keys) {
                expect(running.has(key)).toBe(false);
                running.add(key);
                order.set(key, [...(order.get(key) ?? []), id]);
              }
            await nextTurns();
            for (const { keys } of batch) for (const key of keys) running.delete(key);
            batches -= 1;
            return batch.map(({ id }) => `result ${id}`);
          },
        });
        const results: Promise<string>[] = [];
        for (const [id, { keys, pause }] of items.entries()) {
          if (pause === 0) await nextTurns();
          results.push(batcher.add({ id, keys }));
        }
        expect(await Promise.all(results)).toEqual(items.map((_, id) => `result ${id}`));
        for (const ids of order.values()) expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: 60 },
  );
});
