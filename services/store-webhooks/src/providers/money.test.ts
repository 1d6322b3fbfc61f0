import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromMinor, toMinor } from './money.ts';

test('converting minor units to decimals and back returns the same amount, for currencies with 0, 2 or 3 digits', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e12, max: 1e12 }),
      fc.constantFrom('USD', 'JPY', 'BHD'),
      (minor, currency) => {
        expect(toMinor(fromMinor(minor, currency), currency)).toBe(minor);
      },
    ),
  );
});

test.each([
  [10.005, 1001],
  [1.005, 101],
  [-1.005, -101],
  [0.1 + 0.2, 30],
  [1e-7, 0],
  [1e21, 1e23],
])('%d dollars are %d cents', (amount, cents) => expect(toMinor(amount, 'USD')).toBe(cents));
