import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { timestamp } from './timestamp.ts';

const schema = timestamp('a time');
const read = (text: string) => schema.safeParse(text).data;

describe('a timestamp', () => {
  test.for([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-03-01T12:30:05Z', '2026-03-01T12:30:05.000Z'],
    ['2026-03-01T12:30Z', '2026-03-01T12:30:00.000Z'],
    ['2026-03-01T12:30:05.5Z', '2026-03-01T12:30:05.500Z'],
    ['2026-03-01T01:30:05.123+02:00', '2026-02-28T23:30:05.123Z'],
    ['2026-03-01T12:30:05.123-05:30', '2026-03-01T18:00:05.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ] as const)('%s is %s', ([text, instant]) => {
    expect(read(text)).toBe(instant);
  });

  test('is rounded up to milliseconds, so that nothing earlier is returned', () => {
    expect(read('2026-03-01T12:00:00.1230Z')).toBe('2026-03-01T12:00:00.123Z');
    expect(read('2026-03-01T12:00:00.123001Z')).toBe('2026-03-01T12:00:00.124Z');
    expect(read('2026-12-31T23:59:59.999999999Z')).toBe('2027-01-01T00:00:00.000Z');
  });

  test.for([
    '',
    '2026',
    '2026-03',
    '2026-3-1',
    '20260301',
    '2026-W09-7',
    '2026-060',
    '2026-02-29',
    '2026-13-01',
    '2026-03-32',
    '2026-03-01T12:00:00',
    // A plus sign that was not written as %2B arrives as a space.
    '2026-03-01T12:00:00 02:00',
    '2026-03-01T12Z',
    '2026-03-01 12:00:00Z',
    '2026-03-01 02:00',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-03-01t12:00:00z',
    '2026-03-01T12:00:00,5Z',
    '2026-03-01T12:00:00+0200',
    '2026-03-01T12:00:00+25:00',
    '2026-03-01T12:00:00Z\0',
    '2026-03-01T12:00:00Z\n',
    ' 2026-03-01',
    '-000001-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '1772366400',
    'now',
  ])('%j is refused', (text) => {
    expect(schema.safeParse(text).error?.issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^must be an ISO 8601 timestamp/),
    ]);
  });

  test.for([
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59.999-00:01',
    '9999-12-31T23:59:59.9991Z',
  ])('%s lies beyond what is stored', (text) => {
    expect(schema.safeParse(text).error?.issues[0]?.message).toBe(
      'must lie in the years 0001 to 9999, in UTC',
    );
  });

  test('can be sent as it was returned', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(read(date.toISOString())).toBe(date.toISOString());
        },
      ),
    );
  });
});
