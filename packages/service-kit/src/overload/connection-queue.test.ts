import { expect, test } from 'vitest';
import { createConnectionQueue, runInSlot } from './connection-queue.ts';
import type { RequestScope } from './request-scope.ts';

const createQueue = (slots = 4) => {
  const queue = createConnectionQueue({ slots, maxWaiting: 10, maxWaitMs: 60_000 });
  const started: string[] = [];
  return {
    ...queue,
    started,
    /** Starts a use by a request from a network. Returns a function that ends the use. */
    use: (network: string, uses = 0) => {
      const scope = { network, client: () => [network, ''], uses, onCancel: new Set() };
      const request = scope as unknown as RequestScope;
      queue.enter(
        request,
        () => started.push(network),
        () => undefined,
      );
      return () => queue.leave(request);
    },
  };
};

test('a single network may use all slots', () => {
  const { use, started } = createQueue();
  for (let at = 0; at < 5; at++) use('a');
  expect(started).toEqual(['a', 'a', 'a', 'a']);
});

test('while there are other networks, one with many slots leaves some free, even for requests that already had a slot', () => {
  const { use, started } = createQueue(10);
  use('b')();
  const [end] = Array.from({ length: 10 }, (_, at) => use('a', at === 7 ? 1 : 0));
  expect(started.splice(0)).toEqual(['b', ...Array.from({ length: 7 }, () => 'a')]);
  for (const network of ['b', 'b', 'b', 'c']) use(network);
  expect(started.splice(0)).toEqual(['b', 'b', 'c']);
  end?.();
  expect(started).toEqual([]);
  use('d');
  expect(started).toEqual(['d']);
});

test.each([2, 3, 4, 5, 9])(
  '%i networks that request all of ten slots leave one to a network that has none',
  (count) => {
    const { use, started } = createQueue(10);
    for (let round = 0; round < 10; round++) for (let at = 0; at < count; at++) use(`${at}`);
    started.length = 0;
    use('new');
    expect(started).toEqual(['new']);
  },
);

test('background work uses at most half of the slots, even if the others are free', () => {
  const queue = createQueue();
  const use = () => {
    queue.enter(
      undefined,
      () => queue.started.push('background'),
      () => undefined,
    );
    return () => queue.leave(undefined);
  };
  const [end] = [use(), use(), use()];
  expect(queue.started.splice(0)).toEqual(['background', 'background']);
  for (const network of ['a', 'b', 'a']) queue.use(network);
  expect(queue.started.splice(0)).toEqual(['a', 'b']);
  end();
  expect(queue.started).toEqual(['background']);
});

test('freed slots of a network that holds all of them go to others first', () => {
  const { use, started } = createQueue();
  const ends = [use('a'), use('a'), use('a'), use('a'), use('a'), use('a')];
  use('b');
  use('b');
  started.length = 0;
  for (const end of ends.slice(0, 3)) end();
  expect(started).toEqual(['b', 'a']);
});

test('while a network waits for its share, another with a free slot is not refused', () => {
  const queue = createQueue();
  queue.use('b')();
  for (let at = 0; at < 14; at++) queue.use('a');
  expect(queue.refuses(() => ['a', ''])).toBe(true);
  expect(queue.refuses(() => ['b', ''])).toBe(false);
});

test('work runs in as many slots as it may use, and frees its slot when it fails', async () => {
  // Work outside requests may use half of the slots.
  const queue = createConnectionQueue({ slots: 4, maxWaiting: 1, maxWaitMs: 60_000 });
  const startedWork: number[] = [];
  const works = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const running = works.map(async ({ promise }, at) =>
    runInSlot(queue, async () => {
      startedWork.push(at);
      await promise;
    }),
  );
  await expect.poll(() => startedWork).toEqual([0, 1]);
  works[1]?.reject(new Error('failed'));
  await expect(running[1]).rejects.toThrow('failed');
  await expect.poll(() => startedWork).toEqual([0, 1, 2]);
  for (const { resolve } of works) resolve();
  await Promise.all([running[0], running[2]]);
});

test.each([
  [19, ['loop', 'new']],
  [20, ['new', 'loop']],
])('a request that has had %i slots and a new one get theirs in the order %j', (uses, order) => {
  const { use, started } = createQueue(1);
  const end = use('held');
  started.length = 0;
  const [endNew, endLoop] = [use('new'), use('loop', uses)];
  end();
  for (const next of order[0] === 'new' ? [endNew, endLoop] : [endLoop, endNew]) next();
  expect(started).toEqual(order);
});
