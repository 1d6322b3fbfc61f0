import { Gauge, Registry } from '@prometheus-io/client';
import { expect, inject, test } from 'vitest';
import { addPoolMetrics } from '../src/process/metrics.ts';
import { createReading } from '../src/process/reading.ts';
import { cloneDatabase, startProxy } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';
import { startFixture } from './harness.ts';

/** Returns the value of each series. */
const scrape = async (url: string): Promise<Map<string, number>> => {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  const series = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    series.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
};

test('a scrape does not wait for a hanging database: it gets the last values and their age', async () => {
  await using clone = await cloneDatabase(inject('postgresUrl'), migrations);
  await using proxy = await startProxy(clone.url);
  await using fixture = await startFixture({ DATABASE_URL: proxy.url });
  const { url, context } = fixture;
  addPoolMetrics(context.metrics, context.database);
  let reading = false;
  const notes = createReading(context.metrics.registry, 'notes', async () => {
    reading = true;
    const [row] = await context.database.sql<[{ count: number }]>`select 41 + 1 as count`;
    reading = false;
    return row.count;
  });
  new Gauge({
    name: 'notes',
    help: 'x',
    registers: [context.metrics.registry],
    async collect() {
      this.set((await notes()) ?? Number.NaN);
    },
  });
  await expect.poll(async () => (await scrape(url)).get('notes')).toBe(42);
  expect((await scrape(url)).get('db_up')).toBe(1);

  proxy.freeze();
  const during = await scrape(url);
  expect([reading, during.get('notes')]).toEqual([true, 42]);
  await expect.poll(async () => (await scrape(url)).get('db_up')).toBe(0);
  const age = 'metrics_reading_age_seconds{reading="notes"}';
  await expect.poll(async () => (await scrape(url)).get(age)).toBeGreaterThan(1);

  await proxy.heal();
  await expect.poll(async () => (await scrape(url)).get('db_up')).toBe(1);
  await expect.poll(async () => (await scrape(url)).get(age)).toBeLessThan(1);
});

test('before the first value a gauge and its age are NaN, and gauges that are collected together share one read', async () => {
  const registry = new Registry();
  let reads = 0;
  const read = createReading(registry, 'never', async () => {
    reads++;
    throw new Error('unavailable');
  });
  expect(await Promise.all([read(), read(), registry.metrics()])).toEqual([
    undefined,
    undefined,
    expect.stringContaining('metrics_reading_age_seconds{reading="never"} Nan'),
  ]);
  expect(reads).toBe(1);
  const immediate = createReading(registry, 'immediate', () => {
    throw new Error('fails before it returns a promise');
  });
  expect([await immediate(), await immediate()]).toEqual([undefined, undefined]);
});
