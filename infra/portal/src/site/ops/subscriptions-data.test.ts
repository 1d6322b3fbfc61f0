import { expect, test } from 'vitest';
import { failedShare, medianMs, trendOf, type Attempt } from './subscriptions-data.ts';

const now = Date.parse('2030-01-01T12:00:00Z');
const attempt = (minutesAgo: number, ms: number, error: string | null = null) =>
  ({ sentAt: new Date(now - minutesAgo * 60_000).toISOString(), ms, error }) as Attempt;

test('charts of attempts cover the time from the first one until now, with gaps where there were none', () => {
  const attempts = [
    attempt(0, 5),
    attempt(1, 300, 'refused'),
    attempt(1, 100),
    attempt(1, 200),
    attempt(30, 40),
  ];
  const { spanSeconds, failed, ms } = trendOf(attempts, now);
  expect(spanSeconds).toBe(1800);
  expect(failed[0].at(-1)).toBe(now / 1000);
  expect(failed[0]).toHaveLength(30);
  expect(failed[1].at(0)).toBe(0);
  expect(failed[1].slice(-3)).toEqual([null, expect.closeTo(33.3, 1), 0]);
  expect(ms[1].at(0)).toBe(40);
  expect(ms[1].slice(-3)).toEqual([null, 200, 5]);
});

test('attempts of the last seconds, and those of a clock that is ahead, are in a chart of one minute', () => {
  expect(trendOf([attempt(0, 1)], now).spanSeconds).toBe(60);
  expect(trendOf([attempt(-1, 7)], now).ms[1].at(-1)).toBe(7);
});

test('without attempts there is no percentage and no median', () => {
  expect([failedShare([]), medianMs([])]).toEqual([null, null]);
  expect(medianMs([attempt(0, 9), attempt(0, 1), attempt(0, 5)])).toBe(5);
});
