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

/** A limit with requests in progress. */
const startLimit = (inProgress: number) => {
  const limit = createConcurrencyLimit(max);
  for (let at = 0; at < inProgress; at++) limit.enter('a');
  return limit;
};

/** One request is answered and another one arrives. */
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

test('while the limit holds, a request that is answered makes room for another one', () => {
  const limit = startLimit(max);
  answerOne(limit);
  now = 50;
  answerOne(limit);
  expect(limit.isReached('a')).toBe(true);
  limit.leave('a');
  expect(limit.isReached('a')).toBe(false);
});

test('a burst is not limited: fewer than half were left in between', () => {
  const limit = startLimit(max);
  for (let at = 0; at < max; at++) limit.leave('a');
  now = 50;
  for (let at = 0; at < max; at++) limit.enter('a');
  answerOne(limit);
  expect(limit.isReached('a')).toBe(false);
});

test('requests that are all stuck, or begin to wait for something else, limit no others', () => {
  const limit = startLimit(3 * max);
  for (now = 0; now < 500; now += 10) {
    limit.suspend('a');
    limit.enter('a');
  }
  expect(limit.isReached('a')).toBe(false);
});

/** A limit that is in force, with `inProgress` requests of network a. */
const limitInForce = (inProgress: number, most = max) => {
  const limit = createConcurrencyLimit(most);
  for (let at = 0; at < inProgress; at++) limit.enter('a');
  for (now of [0, 50]) {
    limit.leave('a');
    limit.enter('a');
  }
  return limit;
};

test('a network that fills the limit keeps no other network out', () => {
  const limit = limitInForce(max);
  expect(limit.isReached('a')).toBe(true);
  expect(limit.isReached('b')).toBe(false);
  limit.enter('b');
  expect(limit.isReached('b')).toBe(true);
  limit.leave('a');
  limit.leave('a');
  expect(limit.isReached('b')).toBe(false);
});

test('a network that had more in progress than the limit when it began to hold keeps no other network out', () => {
  const limit = limitInForce(3 * max);
  expect(limit.isReached('a')).toBe(true);
  expect(limit.isReached('b')).toBe(false);
  limit.enter('b');
  expect(limit.isReached('c')).toBe(true);
});

test('while the limit holds, no network is refused below its share unless the reserve is used up, nor is it exceeded', () => {
  const [limitOf8, reserve] = [8, 2];
  const step = fc.record({ network: fc.constantFrom('a', 'b', 'c', 'd'), arrives: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const limit = limitInForce(limitOf8, limitOf8);
      const counts = new Map([['a', limitOf8]]);
      const total = () => [...counts.values()].reduce((sum, count) => sum + count, 0);
      for (const { network, arrives } of steps) {
        const own = counts.get(network) ?? 0;
        if (!arrives && own === 0) continue;
        if (!arrives) {
          limit.leave(network);
          counts.set(network, own - 1);
          continue;
        }
        const active = [...counts].filter(([name, count]) => count > 0 || name === network).length;
        const share = limitOf8 / (counts.has(network) ? active : active + 1);
        const isRefused = total() >= limitOf8 && (total() >= limitOf8 + reserve || own >= share);
        expect(limit.isReached(network)).toBe(isRefused);
        if (isRefused) continue;
        limit.enter(network);
        counts.set(network, own + 1);
      }
      expect(total()).toBeLessThanOrEqual(limitOf8 + reserve);
    }),
  );
});
