import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoff, maxAttempts } from './backoff.ts';

test('waits double, never exceed five minutes and differ by chance', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: maxAttempts }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, chance) => {
        const wait = backoff(attempts, 1000, chance);
        const full = Math.min(1000 * 2 ** (attempts - 1), 300_000);
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      },
    ),
  );
  expect(backoff(3, 1000, 0)).not.toBe(backoff(3, 1000, 1));
});
