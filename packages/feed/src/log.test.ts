import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cursorText, parseCursor } from './log.ts';

test('a cursor keeps its values when it is written and parsed', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 53n - 1n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (position, stamp) => {
      const cursor = { epoch: randomUUID(), position, stamp };
      expect(parseCursor(cursorText(cursor))).toEqual(cursor);
    }),
  );
});

test.each(['', 'x', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(42)}B`])(
  '%j is not a cursor',
  (text) => expect(parseCursor(text)).toBeUndefined(),
);

test.each([-1n, 2n ** 53n, 2n ** 63n - 1n])(
  'a cursor at %s, which no feed assigns, is rejected',
  (position) => {
    expect(parseCursor(cursorText({ epoch: randomUUID(), position, stamp: 1n }))).toBeUndefined();
  },
);
