import { Gauge, Registry } from '@prometheus-io/client';
import { expect, test, vi } from 'vitest';
import { createSamples } from './samples.ts';

test('each series has its value, and NaN becomes null', async () => {
  const registry = new Registry();
  const state = new Gauge({ name: 'state', help: 'x', labelNames: ['store'], registers: [registry] });
  state.set({ store: 'a' }, Number.NaN);
  state.set({ store: 'b"' }, 1);
  new Gauge({ name: 'waiting', help: 'x', registers: [registry] }).set(3);
  const values = { 'state{store="a"}': null, 'state{store="b\\""}': 1, waiting: 3 };
  expect(await createSamples(registry).read()).toEqual(values);
});

test('concurrent reads share one query', async () => {
  const registry = new Registry();
  const collect = vi.fn();
  new Gauge({ name: 'queried', help: 'x', registers: [registry], collect });
  const samples = createSamples(registry);
  await Promise.all([samples.read(), samples.read(), samples.read()]);
  expect(collect).toHaveBeenCalledTimes(1);
});

test('a probe does not wait for gauges: it gets the values of the last read', async () => {
  const registry = new Registry();
  let answer = (): void => {};
  new Gauge({
    name: 'slow',
    help: 'x',
    registers: [registry],
    async collect() {
      await new Promise<void>((resolve) => (answer = resolve));
      this.set(7);
    },
  });
  const samples = createSamples(registry);
  expect(samples.latest()).toEqual({});
  answer();
  expect(await samples.read()).toEqual({ slow: 7 });
  expect(samples.latest()).toEqual({ slow: 7 });
});

test('gauges of libraries are not read, because reading some of them resets them', async () => {
  const registry = new Registry();
  const collect = vi.fn();
  new Gauge({ name: 'nodejs_eventloop_lag_seconds', help: 'x', registers: [registry], collect });
  expect(await createSamples(registry).read()).toEqual({});
  expect(collect).not.toHaveBeenCalled();
});
