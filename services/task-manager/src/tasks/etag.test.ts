import { describe, expect, test } from 'vitest';
import { etagOf, isExpected, isKnown } from './etag.ts';

test('the tag of a version is strong', () => expect(etagOf(3)).toBe('"3"'));

describe('If-None-Match', () => {
  test.each(['"3"', 'W/"3"', '"1", "3"', '"1",W/"3"', ' "3" ,', '*', ' * '])('%s knows version 3', (header) =>
    expect(isKnown(header, 3)).toBe(true),
  );

  test.each([undefined, '', '3', '"4"', '"33"', 'w/"3"', '"3', '3"', '"*"', '"3" x', 'W/3', ','])(
    '%s does not',
    (header) => expect(isKnown(header, 3)).toBe(false),
  );
});

describe('If-Match', () => {
  test.each([undefined, '"3"', '"1", "3"', '*'])('%s holds for version 3', (header) =>
    expect(isExpected(header, 3)).toBe(true),
  );

  test.each(['"2"', 'W/"3"', '"1", "2"', '""'])('%s does not', (header) =>
    expect(isExpected(header, 3)).toBe(false),
  );

  test.each(['', '3', '"3', '"3" or so', '**', ',', 'W/'])('%j is refused, not ignored', (header) =>
    expect(() => isExpected(header, 3)).toThrow('If-Match'),
  );

  test('is read in one go, however long and odd it is', () => {
    expect(() => isExpected(`"1"${' , \t'.repeat(3000)}!`, 3)).toThrow('If-Match');
  });
});
