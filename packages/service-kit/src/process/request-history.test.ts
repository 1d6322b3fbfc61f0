import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMetrics, type Metrics } from './metrics.ts';
import { keepHistory, type History } from './request-history.ts';

const start = Date.UTC(2026, 0, 1, 12, 0, 0);
let metrics: Metrics;
let history: History;

beforeEach(() => {
  vi.useFakeTimers({ now: start });
  metrics = createMetrics();
  history = keepHistory(metrics);
});
afterEach(() => {
  history[Symbol.dispose]();
  vi.useRealTimers();
});

/** Lets the timer take the next sample. */
const tenSeconds = () => vi.advanceTimersByTimeAsync(10_000);
const record = (count: number, status = 200, ms = 2, route = '/v1/notes') => {
  for (let index = 0; index < count; index++) metrics.record('GET', route, status, ms);
};

test('every ten seconds a point says how many requests there were, and how many of them failed', async () => {
  record(30);
  record(10, 503);
  record(20, 404);
  await tenSeconds();
  await tenSeconds();
  record(5);
  await tenSeconds();
  expect(history.points()).toEqual([
    { at: start + 10_000, requestsPerSecond: 6, errorsPerSecond: 1, p99Ms: expect.any(Number) },
    { at: start + 20_000, requestsPerSecond: 0, errorsPerSecond: 0, p99Ms: null },
    { at: start + 30_000, requestsPerSecond: 0.5, errorsPerSecond: 0, p99Ms: expect.any(Number) },
  ]);
});

test('the p99 is that of the span alone, interpolated within its bucket', async () => {
  record(1000, 200, 400);
  await tenSeconds();
  record(98, 200, 0.5);
  record(2, 200, 20);
  await tenSeconds();
  // 98 of 100 took up to 10 ms; the 99th is half way between 10 and 25.
  expect(history.points().map(({ p99Ms }) => p99Ms)).toEqual([expect.closeTo(497.5), expect.closeTo(17.5)]);
});

test('what takes longer than the last bucket counts as its bound', async () => {
  record(10, 200, 60_000);
  await tenSeconds();
  expect(history.points()[0]?.p99Ms).toBe(10_000);
});

test('probes, unknown paths and the page that looks on do not count', async () => {
  record(7, 200, 1, 'none');
  record(7, 200, 1, '/ops/summary');
  await tenSeconds();
  expect(history.points()[0]).toMatchObject({ requestsPerSecond: 0, p99Ms: null });
});

test('points of processes that started at different moments have the same times', async () => {
  vi.setSystemTime(start + 3_500);
  using later = keepHistory(metrics);
  await vi.advanceTimersByTimeAsync(6_500);
  expect(later.points().map(({ at }) => at)).toEqual([start + 10_000]);
});

test('half an hour is kept, and no more', async () => {
  for (let index = 0; index < 200; index++) await tenSeconds();
  const points = history.points();
  expect([points.length, points.at(-1)?.at, points[0]?.at]).toEqual([
    180,
    start + 2_000_000,
    start + 210_000,
  ]);
});

test('disposed of, it takes no more samples', async () => {
  history[Symbol.dispose]();
  await tenSeconds();
  expect(history.points()).toEqual([]);
});
