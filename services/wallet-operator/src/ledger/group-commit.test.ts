import { expect, test } from 'vitest';
import { createGroupCommit, QueueFull } from './group-commit.ts';

/** Long enough for what a settled batch sets off to have left. */
const turn = async () => {
  for (let at = 0; at < 3; at++) await new Promise((resolve) => setImmediate(resolve));
};

/** A commit that is held until it is let go. */
const held = (options: Partial<Parameters<typeof createGroupCommit<string, string>>[0]> = {}) => {
  const batches: { items: readonly string[]; done(): void; fail(error: Error): void }[] = [];
  const group = createGroupCommit<string, string>({
    keysOf: (item) => [item[0] ?? ''],
    worthRetrying: (error) => (error as Error).message === 'bad data',
    maxBatch: 100,
    maxQueue: 100,
    maxInFlight: 1,
    commit: (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, done: () => resolve(items.map((item) => item.toUpperCase())), fail: reject });
      }),
    ...options,
  });
  return { group, batches };
};

test('a lone item leaves at once; what comes meanwhile leaves together', async () => {
  const { group, batches } = held();
  const first = group.submit('a1');
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([['a1']]);
  const others = [group.submit('b1'), group.submit('c1')];
  await turn();
  expect(batches).toHaveLength(1);
  batches[0]?.done();
  expect(await first).toBe('A1');
  await turn();
  expect(batches[1]?.items).toEqual(['b1', 'c1']);
  batches[1]?.done();
  expect(await Promise.all(others)).toEqual(['B1', 'C1']);
});

test('a second batch leaves beside the first when it is as large', async () => {
  const { group, batches } = held({ maxInFlight: 2 });
  const first = ['a1', 'b1'].map((item) => group.submit(item));
  await turn();
  const third = group.submit('c1');
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([['a1', 'b1']]);
  const fourth = group.submit('d1');
  await turn();
  expect(batches.map(({ items }) => items)).toEqual([
    ['a1', 'b1'],
    ['c1', 'd1'],
  ]);
  for (const { done } of batches) done();
  expect(await Promise.all([...first, third, fourth])).toEqual(['A1', 'B1', 'C1', 'D1']);
});

test('what shares a key never travels together, and keeps its order', async () => {
  const { group, batches } = held({ maxInFlight: 2 });
  const all = ['a1', 'a2', 'b1', 'a3'].map((item) => group.submit(item));
  for (let at = 0; at < 3; at++) {
    await turn();
    batches[at]?.done();
    await turn();
  }
  await Promise.all(all);
  expect(batches.map(({ items }) => items)).toEqual([['a1', 'b1'], ['a2'], ['a3']]);
});

test('beyond the queue it refuses at once', async () => {
  const { group, batches } = held({ maxQueue: 2 });
  const waiting = [group.submit('a1'), group.submit('b1')];
  await expect(group.submit('c1')).rejects.toThrow(QueueFull);
  await turn();
  batches[0]?.done();
  await Promise.all(waiting);
});

test('after bad data each item gets its own chance; after anything else nothing is known of any', async () => {
  const { group, batches } = held();
  const all = Promise.allSettled(['a1', 'b1'].map((item) => group.submit(item)));
  await turn();
  batches[0]?.fail(new Error('bad data'));
  await turn();
  expect(batches[1]?.items).toEqual(['a1']);
  batches[1]?.fail(new Error('bad data'));
  await turn();
  batches[2]?.done();
  const [a, b] = await all;
  expect([a?.status, b]).toEqual(['rejected', { status: 'fulfilled', value: 'B1' }]);

  const lost = Promise.allSettled(['a1', 'b1'].map((item) => group.submit(item)));
  await turn();
  batches[3]?.fail(new Error('connection lost'));
  expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(batches).toHaveLength(4);
});

test('disposal waits for what was taken', async () => {
  const { group, batches } = held();
  const one = group.submit('a1');
  await turn();
  let over = false;
  const disposed = group[Symbol.asyncDispose]().then(() => (over = true));
  await turn();
  expect(over).toBe(false);
  batches[0]?.done();
  expect(await one).toBe('A1');
  await disposed;
});
