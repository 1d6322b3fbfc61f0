import { expect, test } from 'vitest';
import { inSlices } from './slices.ts';

/** Visits the numbers 1 to `total` in slices. */
const visiting = (total: number, size: number) => {
  const visited: number[] = [];
  const visit = async (after: string | undefined) => {
    const first = Number(after ?? 0) + 1;
    const slice = Array.from({ length: Math.min(size, total - first + 1) }, (_, at) => first + at);
    visited.push(...slice);
    return { count: slice.length, last: slice.at(-1)?.toString() };
  };
  return { visited, visit };
};

test('a span is visited slice by slice to its end', async () => {
  const { visited, visit } = visiting(25, 10);
  expect(await inSlices({ after: undefined, size: 10 }, visit)).toBeNull();
  expect(visited).toHaveLength(25);
});

test('when the time is over it says where to go on, and going on visits each event once', async () => {
  const { visited, visit } = visiting(20, 10);
  let after: string | null | undefined;
  let requests = 0;
  do {
    after = await inSlices({ after: after ?? undefined, size: 10, budgetMs: 0 }, visit);
    requests++;
  } while (after !== null);
  expect(visited).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(requests).toBe(3);
});
