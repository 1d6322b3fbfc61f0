import { expect, test } from 'vitest';
import { createPlanningLimit } from './capacity.ts';

/** A limit of 30 bytes, and the events that were admitted, in order. */
const createLimit = () => {
  const limit = createPlanningLimit(30);
  const admitted: string[] = [];
  return {
    ...limit,
    admitted,
    enter: async (storeId: string, bytes: number) => {
      const admission = await limit.enter(storeId, bytes);
      admitted.push(storeId);
      return admission;
    },
  };
};

test('the events of one store take at most a third of the memory, and one event more; other stores go on', async () => {
  const { enter, isFull, admitted } = createLimit();
  const first = await enter('busy', 9);
  await enter('busy', 9);
  const waiting = [enter('busy', 1), enter('busy', 1)];
  await enter('other', 1);
  expect(admitted).toEqual(['busy', 'busy', 'other']);
  expect([isFull('busy'), isFull('other')]).toEqual([true, false]);
  first[Symbol.dispose]();
  await waiting[0];
  expect(admitted).toEqual(['busy', 'busy', 'other', 'busy']);
  expect(isFull('busy')).toBe(true);
});

test('when all memory is taken, every event waits, and stores take turns', async () => {
  const { enter, isFull, admitted } = createLimit();
  const held = await Promise.all(['a', 'b', 'c'].map((storeId) => enter(storeId, 10)));
  expect(isFull('new')).toBe(true);
  const waiting = ['d', 'd', 'e'].map((storeId) => enter(storeId, 5));
  admitted.length = 0;
  for (const admission of held) admission[Symbol.dispose]();
  await Promise.all(waiting);
  expect(admitted).toEqual(['d', 'e', 'd']);
});

test('a change that is larger than expected counts with its own size until its event has ended', async () => {
  const { enter, isFull } = createLimit();
  const admission = await enter('a', 2);
  admission.grow(1);
  expect(isFull('a')).toBe(false);
  admission.grow(12);
  expect(isFull('a')).toBe(true);
  admission[Symbol.dispose]();
  expect(isFull('a')).toBe(false);
});
