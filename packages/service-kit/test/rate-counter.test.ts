import { startRedis } from '@platform/local/redis';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createBatchedRateCounter } from '../src/overload/rate-limit.ts';

const start = async () => {
  const stack = new AsyncDisposableStack();
  const server = await startRedis();
  stack.defer(() => server.stop());
  const redis = new Redis(server.url);
  stack.defer(() => redis.disconnect());
  await redis.ping();
  const evaluated = async () => {
    const stats = await redis.info('commandstats');
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
      (sum, [, calls]) => sum + Number(calls),
      0,
    );
  };
  return {
    counter: (points: number) => createBatchedRateCounter({ redis, prefix: 'test', points, seconds: 60 }),
    evaluated,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** How many of `times` requests were within the limit, taken by the processes in turn. */
const passed = async (
  counters: ReturnType<typeof createBatchedRateCounter>[],
  perMinute: number,
  times: number,
): Promise<number> => {
  let within = 0;
  for (let at = 0; at < times; at++) {
    const counter = counters[at % counters.length];
    if (counter && (await counter.take('key')).consumedPoints <= perMinute) within++;
  }
  return within;
};

test('one process lets exactly the limit through and asks Redis far less often than once a request', async () => {
  await using stand = await start();
  expect(await passed([stand.counter(1000)], 1000, 1500)).toBe(1000);
  expect(await stand.evaluated()).toBeLessThan(120);
});

test('three processes let at most two tenths of the limit too many through', async () => {
  await using stand = await start();
  const counters = [stand.counter(300), stand.counter(300), stand.counter(300)];
  const within = await passed(counters, 300, 900);
  expect(within).toBeGreaterThanOrEqual(300);
  expect(within).toBeLessThanOrEqual(360);
});

test('requests that arrive together are counted one by one', async () => {
  await using stand = await start();
  const counter = stand.counter(5);
  const counts = await Promise.all(Array.from({ length: 20 }, async () => counter.take('key')));
  expect(counts.filter(({ consumedPoints }) => consumedPoints <= 5)).toHaveLength(5);
});
