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
  for (let at = 0; at < inProgress; at++) limit.enter();
  return limit;
};

/** One request is answered and another one arrives. */
const answerOne = (limit: ReturnType<typeof createConcurrencyLimit>) => {
  limit.leave();
  limit.enter();
};

test('requests that stay for 50 ms while others are answered limit further ones for a second', () => {
  const limit = startLimit(max);
  answerOne(limit);
  now = 49;
  answerOne(limit);
  expect(limit.isReached()).toBe(false);
  now = 50;
  answerOne(limit);
  expect(limit.isReached()).toBe(true);
  now = 1049;
  expect(limit.isReached()).toBe(true);
  now = 1050;
  expect(limit.isReached()).toBe(false);
});

test('while the limit holds, a request that is answered makes room for another one', () => {
  const limit = startLimit(max);
  answerOne(limit);
  now = 50;
  answerOne(limit);
  expect(limit.isReached()).toBe(true);
  limit.leave();
  expect(limit.isReached()).toBe(false);
});

test('a burst is not limited: fewer than half were left in between', () => {
  const limit = startLimit(max);
  for (let at = 0; at < max; at++) limit.leave();
  now = 50;
  for (let at = 0; at < max; at++) limit.enter();
  answerOne(limit);
  expect(limit.isReached()).toBe(false);
});

test('requests that are all stuck, or begin to wait for something else, limit no others', () => {
  const limit = startLimit(3 * max);
  for (now = 0; now < 500; now += 10) {
    limit.suspend();
    limit.enter();
  }
  expect(limit.isReached()).toBe(false);
});
