import { startRedis } from '@platform/local/redis';
import type { Redis } from 'ioredis';
import supertest from 'supertest';
import { expect, inject, test, vi } from 'vitest';
import { addRedisMetrics } from '../src/process/metrics.ts';
import { askRedis } from '../src/process/redis.ts';
import { startFixture } from './harness.ts';

const limited = { RATE_LIMIT: 'on', RATE_LIMIT_PER_MINUTE: '3' };

test('the limit is shared through Redis by all instances', async () => {
  const redis = await startRedis();
  try {
    await using first = await startFixture({ ...limited, REDIS_URL: redis.url });
    await using second = await startFixture({ ...limited, REDIS_URL: redis.url });
    await expect
      .poll(() => [first, second].map(({ context }) => context.redis?.status))
      .toEqual(['ready', 'ready']);
    const answers = [];
    for (const { app } of [first, second, first, second])
      answers.push(await supertest(app).get('/v1/notes/a'));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 429]);
    expect(answers.map(({ headers }) => headers['ratelimit'])).toEqual([
      expect.stringMatching(/^"default";r=2;t=\d+$/),
      expect.stringMatching(/^"default";r=1;t=\d+$/),
      expect.stringMatching(/^"default";r=0;t=\d+$/),
      expect.stringMatching(/^"default";r=0;t=\d+$/),
    ]);
    expect(answers[3]?.body).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0);
  } finally {
    await redis.stop();
  }
});

test('without Redis each process counts separately', async () => {
  const redis = await startRedis();
  await using fixture = await startFixture({ ...limited, REDIS_URL: redis.url });
  await redis.stop();
  const statuses = [];
  for (let count = 0; count < 5; count++)
    statuses.push((await supertest(fixture.app).get('/v1/notes/a')).status);
  expect(statuses).toEqual([404, 404, 404, 429, 429]);
});

test('a crashed Redis is degraded, not down, and is used again after it restarts', async () => {
  const redis = await startRedis();
  try {
    await using fixture = await startFixture({ REDIS_URL: redis.url });
    const redisState = async () => (await supertest(fixture.app).get('/readyz')).body as unknown;
    await expect.poll(redisState).toMatchObject({ status: 'ready', checks: { redis: 'ok' } });
    await redis.kill9();
    await expect.poll(redisState).toMatchObject({ status: 'ready', checks: { redis: 'degraded' } });
    expect(await askRedis(fixture.context.redis, (client) => client.ping())).toBeUndefined();
    await redis.restart();
    await expect.poll(() => askRedis(fixture.context.redis, (client) => client.ping())).toBe('PONG');
  } finally {
    await redis.stop();
  }
});

test('a hanging Redis is marked as unavailable after the first command, and this is logged once', async () => {
  const redis = await startRedis();
  try {
    await using fixture = await startFixture({ REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '1000' });
    const { context, app, lines } = fixture;
    addRedisMetrics(context.metrics, context.redis);
    const ready = async () => (await supertest(app).get('/readyz')).body as unknown;
    const redisUp = async () => /^redis_up .*$/m.exec((await supertest(app).get('/metrics')).text)?.[0];
    await expect.poll(ready).toMatchObject({ status: 'ready', degraded: false, checks: { redis: 'ok' } });
    expect(await redisUp()).toBe('redis_up 1');

    process.kill(redis.pid, 'SIGSTOP');
    expect(await askRedis(context.redis, (client) => client.ping())).toBeUndefined();
    // Only the first commands wait; later ones are not sent.
    await expect.poll(() => context.redis?.status).not.toBe('ready');
    for (let count = 0; count < 20; count++) {
      const send = vi.fn((client: Redis) => client.ping());
      expect(await askRedis(context.redis, send)).toBeUndefined();
      expect(send).not.toHaveBeenCalled();
    }
    expect(await ready()).toMatchObject({
      status: 'ready',
      degraded: true,
      checks: { redis: 'degraded' },
    });
    expect(await redisUp()).toBe('redis_up 0');

    process.kill(redis.pid, 'SIGCONT');
    await expect.poll(ready).toMatchObject({ degraded: false });
    expect(await redisUp()).toBe('redis_up 1');
    const messages = lines.filter((line) => line.includes('Redis is'));
    expect(messages.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'Redis is away',
      'Redis is back',
    ]);
    expect(messages[0]).toContain('"reason":"no answer for 1000 ms"');
  } finally {
    process.kill(redis.pid, 'SIGCONT');
    await redis.stop();
  }
});

test('a client address comes from the gateway only', async () => {
  await using fixture = await startFixture({
    ...limited,
    REDIS_URL: inject('redisUrl') ?? '',
    TRUST_PROXY: '10.9.9.9',
  });
  await expect.poll(() => fixture.context.redis?.status).toBe('ready');
  const statuses = [];
  for (let count = 0; count < 4; count++) {
    const answer = await supertest(fixture.app).get('/v1/notes/a').set('X-Forwarded-For', `10.0.0.${count}`);
    statuses.push(answer.status);
  }
  expect(statuses.at(-1)).toBe(429);
});
