import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMetrics, type Metrics } from '../process/metrics.ts';

const start = Date.UTC(2026, 0, 1, 12, 0, 0);
let metrics: Metrics;

beforeEach(() => {
  vi.useFakeTimers({ now: start });
  metrics = createMetrics();
});
afterEach(() => vi.useRealTimers());

const isoTime = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const advanceTime = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const record = (count: number, status = 200, ms = 2, route: string | undefined = '/v1/notes') => {
  for (let index = 0; index < count; index++) metrics.record('GET', route, status, ms);
};

test('a point for each ten seconds has the rate of requests and of errors', () => {
  record(30);
  record(10, 503);
  record(20, 404);
  advanceTime(20);
  record(5);
  advanceTime(10);
  expect(metrics.history.points()).toEqual([
    { at: isoTime(10), requestsPerSecond: 6, errorsPerSecond: 1, p99Ms: expect.closeTo(2, 1) },
    { at: isoTime(20), requestsPerSecond: 0, errorsPerSecond: 0, p99Ms: null },
    { at: isoTime(30), requestsPerSecond: 0.5, errorsPerSecond: 0, p99Ms: expect.closeTo(2, 1) },
  ]);
});

test('the p99 covers only its own step', () => {
  record(1000, 200, 400);
  advanceTime(10);
  record(98, 200, 0.5);
  record(2, 200, 20);
  advanceTime(10);
  expect(metrics.history.points().map(({ p99Ms }) => p99Ms)).toEqual([
    expect.closeTo(400, 0),
    expect.closeTo(20, 0),
  ]);
});

test('a request that takes longer than a minute counts as a minute', () => {
  record(10, 200, 3_600_000);
  advanceTime(10);
  expect(Math.round((metrics.history.points()[0]?.p99Ms ?? 0) / 1000)).toBe(60);
});

test('probes and unknown paths do not count', () => {
  metrics.record('GET', undefined, 200, 1);
  advanceTime(10);
  expect(metrics.history.points()[0]).toMatchObject({ requestsPerSecond: 0, p99Ms: null });
});

test('points of processes that started at different moments have the same times', () => {
  vi.setSystemTime(start + 3_500);
  const later = createMetrics();
  vi.setSystemTime(start + 10_000);
  expect(later.history.points().map(({ at }) => at)).toEqual([isoTime(10)]);
});

test('exactly half an hour is kept, even without requests', () => {
  advanceTime(2_000);
  const points = metrics.history.points();
  expect([points.length, points.at(-1)?.at, points[0]?.at]).toEqual([180, isoTime(2_000), isoTime(210)]);
});

test('after the clock jumps by 40 days, forward or back, the last half hour is empty', () => {
  for (const days of [40, -40]) {
    record(10);
    advanceTime(10);
    expect(metrics.history.points().at(-1)).toMatchObject({ requestsPerSecond: 1 });
    advanceTime(days * 86_400);
    const points = metrics.history.points();
    expect(points).toHaveLength(180);
    expect(points.every(({ requestsPerSecond }) => requestsPerSecond === 0)).toBe(true);
    expect(points.at(-1)?.at).toBe(new Date().toISOString());
  }
});
