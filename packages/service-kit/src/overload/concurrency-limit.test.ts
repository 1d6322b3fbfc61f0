import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.ts';

let now = 0;
beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

const max = 4;

/** Creates a limit with `inProgress` requests. */
const startLimit = (inProgress: number) => {
  const limit = createConcurrencyLimit(max);
  for (let at = 0; at < inProgress; at++) limit.enter('a');
  return limit;
};

/** Simulates that one request is answered and another one arrives. */
const answerOne = (limit: ReturnType<typeof createConcurrencyLimit>) => {
  limit.leave('a');
  limit.enter('a');
};

test('requests that stay for 50 ms while others are answered limit further ones for a second', () => {
  const limit = startLimit(max);
  answerOne(limit);
  now = 49;
  answerOne(limit);
  expect(limit.isReached('a')).toBe(false);
  now = 50;
  answerOne(limit);
  expect(limit.isReached('a')).toBe(true);
  now = 1049;
  expect(limit.isReached('a')).toBe(true);
  now = 1050;
  expect(limit.isReached('a')).toBe(false);
});

test('while the limit applies, an answered request makes room for another one', () => {
  const limit = startLimit(max);
  answerOne(limit);
  now = 50;
  answerOne(limit);
  expect(limit.isReached('a')).toBe(true);
  limit.leave('a');
  expect(limit.isReached('a')).toBe(false);
});

test('a burst is not limited, because fewer than half of its requests were left in between', () => {
  const limit = startLimit(max);
  for (let at = 0; at < max; at++) limit.leave('a');
  now = 50;
  for (let at = 0; at < max; at++) limit.enter('a');
  answerOne(limit);
  expect(limit.isReached('a')).toBe(false);
});

test('requests that are all stuck or suspended do not limit others', () => {
  const limit = startLimit(3 * max);
  for (now = 0; now < 500; now += 10) {
    limit.suspend('a');
    limit.enter('a');
  }
  expect(limit.isReached('a')).toBe(false);
});

/** Creates a limit that applies, with `inProgress` requests of network a. */
const activeLimit = (inProgress: number, most = max) => {
  const limit = createConcurrencyLimit(most);
  for (let at = 0; at < inProgress; at++) limit.enter('a');
  for (now of [0, 50]) {
    limit.leave('a');
    limit.enter('a');
  }
  return limit;
};

test('a network that fills the limit does not block other networks', () => {
  const limit = activeLimit(max);
  expect(limit.isReached('a')).toBe(true);
  expect(limit.isReached('b')).toBe(false);
  limit.enter('b');
  expect(limit.isReached('b')).toBe(true);
  limit.leave('a');
  limit.leave('a');
  expect(limit.isReached('b')).toBe(false);
});

test('a network that exceeded the limit before it applied does not block other networks', () => {
  const limit = activeLimit(3 * max);
  expect(limit.isReached('a')).toBe(true);
  expect(limit.isReached('b')).toBe(false);
  limit.enter('b');
  expect(limit.isReached('c')).toBe(true);
});

test('while the limit applies, a network below its share is refused only if the reserve is used up, which is never exceeded', () => {
  const [limitOf8, reserve] = [8, 2];
  const step = fc.record({ network: fc.constantFrom('a', 'b', 'c', 'd'), arrives: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const limit = activeLimit(limitOf8, limitOf8);
      const counts = new Map([['a', limitOf8]]);
      const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
      for (const { network, arrives } of steps) {
        const count = counts.get(network) ?? 0;
        if (!arrives && count === 0) continue;
        if (!arrives) {
          limit.leave(network);
          counts.set(network, count - 1);
          continue;
        }
        const active = [...counts].filter(([name, current]) => current > 0 || name === network).length;
        const share = limitOf8 / (counts.has(network) ? active : active + 1);
        const isRefused = total() >= limitOf8 && (total() >= limitOf8 + reserve || count >= share);
        expect(limit.isReached(network)).toBe(isRefused);
        if (isRefused) continue;
        limit.enter(network);
        counts.set(network, count + 1);
      }
      expect(total()).toBeLessThanOrEqual(limitOf8 + reserve);
    }),
  );
});
