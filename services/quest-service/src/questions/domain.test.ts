import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOrder, misplaced, repeated } from './domain.ts';

const itemsWith = (...numbers: (number | undefined)[]) => numbers.map((orderNumber) => ({ orderNumber }));

test('a list without order numbers stays as it is and is numbered from 0', () => {
  const items = [{ id: 'b' }, { id: 'a' }];
  expect(misplaced(items as object[])).toEqual([]);
  expect(inOrder(items as { id: string; orderNumber?: number }[])).toEqual([
    { id: 'b', orderNumber: 0 },
    { id: 'a', orderNumber: 1 },
  ]);
});

test('any order of 0 to n-1 is put in order', () => {
  const shuffled = fc
    .integer({ min: 0, max: 30 })
    .chain((size) => fc.shuffledSubarray([...Array(size).keys()], { minLength: size, maxLength: size }));
  fc.assert(
    fc.property(shuffled, (numbers) => {
      expect(misplaced(itemsWith(...numbers))).toEqual([]);
      expect(inOrder(itemsWith(...numbers)).map(({ orderNumber }) => orderNumber)).toEqual([
        ...numbers.keys(),
      ]);
    }),
  );
});

test.for([
  ['a gap', [0, 2], 1],
  ['a start at 1', [1, 2], 1],
  ['a number twice', [0, 1, 1], 2],
  ['a number missing', [0, undefined], 1],
] as const)('%s is reported at its index', ([, numbers, index]) => {
  expect(misplaced(itemsWith(...numbers)).map((fault) => fault.index)).toEqual([index]);
});

test('any other numbers are refused', () => {
  const numbers = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(numbers, (sequence) => {
      const gapless = sequence.toSorted((a, b) => a - b).every((number, index) => number === index);
      expect(misplaced(itemsWith(...sequence)).length === 0).toBe(gapless);
    }),
  );
});

test('each repeated value is reported; absent values are not', () => {
  expect(repeated(['a', undefined, 'b', undefined, 'a', 'a']).map(({ index }) => index)).toEqual([4, 5]);
});
