import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLineSplitter } from './lines.ts';

const split = (chunks: readonly Buffer[], maxBytes = 100) => {
  const splitter = createLineSplitter(maxBytes);
  const lines = [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.end()];
  return lines.map(({ line, bytes }) => [line, bytes?.toString()]);
};

test('the lines do not depend on how the stream is split into chunks', () => {
  const text = fc.array(fc.constantFrom('a', '\n', 'é', '\r', '😀')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (whole, cuts) => {
      const bytes = Buffer.from(whole);
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((to, place) => bytes.subarray(at[place], to));
      const lines = whole.split('\n');
      if (lines.at(-1) === '') lines.pop();
      expect(split(chunks)).toEqual(lines.map((line, place) => [place + 1, line]));
    }),
  );
});

test('a line that is too long is skipped and not stored', () => {
  const long = Buffer.alloc(60, 'x');
  expect(split([Buffer.from('a\n'), long, long, long, Buffer.from('\nb')])).toEqual([
    [1, 'a'],
    [2, undefined],
    [3, 'b'],
  ]);
  expect(split([Buffer.alloc(100, 'y')])).toEqual([[1, 'y'.repeat(100)]]);
});
