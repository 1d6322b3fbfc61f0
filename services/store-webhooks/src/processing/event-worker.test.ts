import { expect, test } from 'vitest';
import { pauseAfter } from './event-worker.ts';

test('the pause of an event whose provider has an open circuit grows with the time it has waited, up to an hour', () => {
  expect(pauseAfter(0, 10_000, 0.5)).toBe(10_000);
  expect(pauseAfter(600_000, 10_000, 1)).toBe(150_000);
  expect(pauseAfter(600_000, 10_000, 0)).toBe(75_000);
  expect(pauseAfter(24 * 3_600_000, 10_000, 1)).toBe(3_600_000);
});
