import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { z } from 'zod';
import { webhook as onfleetWebhook } from './onfleet/schema.ts';
import { epoch, isoTime, parsedBytes, parseExactly, parsePayload, readable } from './payload-parsing.ts';

test('an integer is parsed as a number, or as text above 2^53', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const value = (parseExactly(`{"a":[${integer}]}`) as { a: unknown[] }).a[0];
      expect(String(value)).toBe(String(integer));
      expect(typeof value).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'string');
    }),
  );
});

test('all other values are the same as with JSON.parse, even amounts with many digits', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      fc.pre(!/\d{16}/.test(json));
      const padded = `[${json}, 0.30000000000000004, 9007199254740991, "9007199254740993", 1e25]`;
      expect(parseExactly(padded)).toEqual(JSON.parse(padded));
    }),
  );
});

test('a fraction is a number even if a double rounds it to an integer, because it is an amount and not an id', () => {
  const fractions =
    '[29.999999999999999, 12.0000000000000000, -0.99999999999999999, 9007199254740993.5, 1.5e20]';
  expect(parseExactly(fractions)).toEqual([30, 12, -1, 9007199254740994, 1.5e20]);
});

test('digits in a text do not change, whatever characters are escaped before them', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('"', '\\', '1', ' ', ':', ',') })), (texts) => {
      const sent = [...texts, '1234567890123456789', '"1234567890123456789,'];
      const json = `[${JSON.stringify(sent)}, 1234567890123456789]`;
      expect(parseExactly(json)).toEqual([sent, '1234567890123456789']);
    }),
  );
});

test.each([
  '{1234567890123456789:1}',
  '{"a":1, 1234567890123456789 :2}',
  '01234567890123456789',
  '--1234567890123456789',
  'true1234567890123456789',
  '[1234567890123456789 "1"]',
  '"1234567890123456789',
])('invalid JSON with long numbers stays invalid, such as %s', (text) => {
  expect(() => parseExactly(text)).toThrow(SyntaxError);
});

test('a webhook payload with a long number is parsed twice without a reviver, and one without a long number once', () => {
  const parse = vi.spyOn(JSON, 'parse');
  parseExactly('{"id":1234567890123456789,"x":[{},{},{}]}');
  parseExactly('{"id":123456789012345}');
  expect(parse.mock.calls.map((args) => args.join())).toEqual([
    '{"id":1234567890123456789,"x":[{},{},{}]}',
    '{"id":"1234567890123456789","x":[{},{},{}]}',
    '{"id":123456789012345}',
  ]);
  parse.mockRestore();
});

test('a text that is no JSON is not searched for long numbers', () => {
  const search = vi.spyOn(RegExp.prototype, 'exec');
  expect(
    readable(Buffer.from(`1234567890123456 ${'eeeeeeeeeeeeeee '.repeat(100)}`), undefined),
  ).toBeUndefined();
  expect(search).not.toHaveBeenCalled();
  search.mockRestore();
});

test('a list that is too long causes one error, not one per item', () => {
  const metadata = Array(510_000).fill(0);
  const body = { taskId: 't', triggerId: 0, time: 1, data: { task: { metadata } } };
  expect(() => parsePayload(onfleetWebhook, body)).toThrow(
    /^The payload is not valid: data\.task\.metadata: must have at most 1000 items$/,
  );
});

const onfleetTime = onfleetWebhook.shape.time;

test.each([
  [epoch(), 8.64e15],
  [epoch(), 253_402_300_800_000],
  [onfleetTime, 8.64e15],
  [onfleetTime, 253_402_300_800_000],
  [isoTime(), '0000-12-31T23:59:59Z'],
  [isoTime(), '0001-01-01T00:00:00+00:01'],
  [isoTime(), '9999-12-31T23:59:59-00:01'],
])(
  'a time outside of the years 1 to 9999, which PostgreSQL would refuse, is not valid (%#)',
  (schema, time) => {
    expect(() => parsePayload<z.ZodType>(schema, time)).toThrow(/^The payload is not valid/);
  },
);

test('the first and last times of the years 1 to 9999 are valid', () => {
  const times = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'];
  expect(times.map((time) => new Date(parsePayload(isoTime(), time)).toISOString())).toEqual(times);
  for (const schema of [epoch(), onfleetTime])
    expect(parsePayload<z.ZodType>(schema, 253_402_300_799_999)).toBe(253_402_300_799_999);
});

test('a plus sign in a form is a space, and an escaped plus sign is a plus sign', () => {
  const form = Buffer.from('a+b=+c%2B+d&payload=x%20%2b+y');
  expect(readable(form, 'application/x-www-form-urlencoded')).toEqual({ 'a b': ' c+ d', payload: 'x + y' });
});

test('a body with more values or form fields than any webhook has is not parsed; commas in texts do not count as values', () => {
  const form = 'application/x-www-form-urlencoded';
  const items = Array.from({ length: 400 }, () =>
    Object.fromEntries(Array.from('abcdefghijklmnopqrst', (name) => [name, 1])),
  );
  expect(readable(Buffer.from(JSON.stringify({ items, memo: ','.repeat(60_000) })), undefined)).toMatchObject(
    { items },
  );
  expect(readable(Buffer.from(`[${'{},'.repeat(60_000)}{}]`), undefined)).toBeUndefined();
  const nested = `${'['.repeat(60)}${']'.repeat(60)}`;
  expect(
    readable(Buffer.from(`[${Array.from({ length: 1000 }, () => nested).join(',')}]`), undefined),
  ).toBeUndefined();
  expect(readable(Buffer.from('a=1&'.repeat(999)), form)).toEqual({ a: '1' });
  expect(readable(Buffer.from('a=1&'.repeat(1001)), form)).toBeUndefined();
});

const manyItems = `[${Array(2000).fill('{"quantity":1}').join(',')}]`;

test.each([
  ['small', undefined, '{"id":"o-1","status":"A"}', 200],
  ['of many values', undefined, manyItems, 400_000],
  ['too complex to be parsed', undefined, '[]'.repeat(500_000), 1_000_000],
  [
    'a form that contains JSON',
    'application/x-www-form-urlencoded',
    `payload=${encodeURIComponent(manyItems)}`,
    400_000,
  ],
])('the memory of a body that is %s includes its values', (_name, contentType, body, bytesOfValues) => {
  const bytes = parsedBytes(Buffer.from(body), contentType);
  expect(bytes).toBeGreaterThanOrEqual(body.length + bytesOfValues);
  expect(bytes).toBeLessThanOrEqual(body.length + 1_000_000);
});
