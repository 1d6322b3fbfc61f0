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
  const countEvalCalls = async () => {
    const stats = await redis.info('commandstats');
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
      (sum, [, calls]) => sum + Number(calls),
      0,
    );
  };
  return {
    counter: (points: number) => createBatchedRateCounter({ redis, prefix: 'test', points, seconds: 60 }),
    countEvalCalls,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** Sends `times` requests, spread evenly over the processes. Returns how many were within the limit. */
const countAllowed = async (
  counters: ReturnType<typeof createBatchedRateCounter>[],
  perMinute: number,
  times: number,
): Promise<number> => {
  let allowed = 0;
  for (let at = 0; at < times; at++) {
    const counter = counters[at % counters.length];
    if (counter && (await counter.take('key')).consumedPoints <= perMinute) allowed++;
  }
  return allowed;
};

test('one process allows exactly the limit and asks Redis far less often than once per request', async () => {
  await using fixture = await start();
  expect(await countAllowed([fixture.counter(1000)], 1000, 1500)).toBe(1000);
  expect(await fixture.countEvalCalls()).toBeLessThan(120);
});

test('three processes exceed the limit by at most two tenths', async () => {
  await using fixture = await start();
  const counters = [fixture.counter(300), fixture.counter(300), fixture.counter(300)];
  const allowed = await countAllowed(counters, 300, 900);
  expect(allowed).toBeGreaterThanOrEqual(300);
  expect(allowed).toBeLessThanOrEqual(360);
});

test('simultaneous requests are counted one by one', async () => {
  await using fixture = await start();
  const counter = fixture.counter(5);
  const counts = await Promise.all(Array.from({ length: 20 }, async () => counter.take('key')));
  expect(counts.filter(({ consumedPoints }) => consumedPoints <= 5)).toHaveLength(5);
});
