import fc from 'fast-check';
import { expect, test } from 'vitest';
import { webhook as onfleetWebhook } from './onfleet/schema.ts';
import { parseExactly, parsePayload } from './payload-parsing.ts';

test('an integer is the number that was sent, or its text', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const value = (parseExactly(`{"a":[${integer}]}`) as { a: unknown[] }).a[0];
      expect(String(value)).toBe(String(integer));
      expect(typeof value).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'string');
    }),
  );
});

test('everything else is what JSON.parse makes of it, amounts with many digits too', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      fc.pre(!/\d{16}/.test(json));
      const padded = `[${json}, 0.30000000000000004, 9007199254740991, "9007199254740993", 1e25]`;
      expect(parseExactly(padded)).toEqual(JSON.parse(padded));
    }),
  );
});

test('a fraction is a number, also where a double rounds it to an integer: it is an amount and no id', () => {
  const fractions =
    '[29.999999999999999, 12.0000000000000000, -0.99999999999999999, 9007199254740993.5, 1.5e20]';
  expect(parseExactly(fractions)).toEqual([30, 12, -1, 9007199254740994, 1.5e20]);
});

test('a list that is too long is one error, not one for each of its items', () => {
  const metadata = Array(510_000).fill(0);
  const body = { taskId: 't', triggerId: 0, time: 1, data: { task: { metadata } } };
  expect(() => parsePayload(onfleetWebhook, body)).toThrow(
    /^The payload is not valid: data\.task\.metadata: must have at most 1000 items$/,
  );
});
