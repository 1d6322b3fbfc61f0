import { Gauge, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSamples } from './samples.ts';

const start = Date.UTC(2026, 0, 1, 12, 0, 0);
beforeEach(() => void vi.useFakeTimers({ now: start }));
afterEach(() => vi.useRealTimers());

const isoTime = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

test('a gauge is sampled every minute, and once more when somebody reads', async () => {
  const registry = new Registry();
  let waiting = 0;
  new Gauge({
    name: 'waiting',
    help: 'x',
    registers: [registry],
    collect() {
      this.set(waiting);
    },
  });
  const samples = createSamples(registry);
  using _sampling = samples.start();
  for (waiting = 1; waiting <= 2; waiting++) await vi.advanceTimersByTimeAsync(60_000);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await samples.read()).toEqual({
    times: [isoTime(1), isoTime(2), isoTime(2.5)],
    values: { waiting: [1, 2, 3] },
  });
});

test('a series that appears later has no values before, and NaN is no value', async () => {
  const registry = new Registry();
  const state = new Gauge({ name: 'state', help: 'x', labelNames: ['of'], registers: [registry] });
  state.set({ of: 'a' }, Number.NaN);
  const samples = createSamples(registry);
  using _sampling = samples.start();
  await vi.advanceTimersByTimeAsync(60_000);
  state.set({ of: 'b"' }, 1);
  await vi.advanceTimersByTimeAsync(5000);
  const { values } = await samples.read();
  expect(values).toEqual({ 'state{of="a"}': [null, null], 'state{of="b\\""}': [null, 1] });
});

test('the samples of two hours are kept', async () => {
  const samples = createSamples(new Registry());
  using _sampling = samples.start();
  await vi.advanceTimersByTimeAsync(300 * 60_000 + 5000);
  const { times } = await samples.read();
  expect(times).toHaveLength(121);
  expect(times[0]).toBe(isoTime(181));
});

test('many who read at once cause one query', async () => {
  const registry = new Registry();
  const collect = vi.fn();
  new Gauge({ name: 'asked', help: 'x', registers: [registry], collect });
  const samples = createSamples(registry);
  await Promise.all([samples.read(), samples.read(), samples.read()]);
  expect(collect).toHaveBeenCalledTimes(1);
});

test('gauges of the libraries are left alone, because reading some of them resets them', async () => {
  const registry = new Registry();
  const collect = vi.fn();
  new Gauge({ name: 'nodejs_eventloop_lag_seconds', help: 'x', registers: [registry], collect });
  expect((await createSamples(registry).read()).values).toEqual({});
  expect(collect).not.toHaveBeenCalled();
});
