import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attemptsWithin, backoff } from './backoff.ts';

test('pauses double, never exceed an hour and are random', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, chance) => {
        const wait = backoff(attempts, 1000, chance);
        const full = Math.min(1000 * 2 ** (attempts - 1), 3_600_000);
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      },
    ),
  );
  expect(backoff(3, 1000, 0)).not.toBe(backoff(3, 1000, 1));
});

test('attempts for 24 hours end after 24 hours, give or take one wait', () => {
  for (const baseMs of [2, 1000, 60_000]) {
    const waits = Array.from({ length: attemptsWithin(24, baseMs) - 1 }, (_, at) =>
      backoff(at + 1, baseMs, 0.5),
    );
    const hours = waits.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
    expect(hours).toBeGreaterThanOrEqual(24);
    expect(hours).toBeLessThan(25);
  }
});
