import { startPostgres } from '@platform/local/postgres';
import { startRedis } from '@platform/local/redis';
import type { Redis } from 'ioredis';
import supertest from 'supertest';
import { describe, expect, test, vi } from 'vitest';
import {
  at,
  bearerOf,
  goodPassword,
  createTestDatabase,
  register,
  startService,
  variablesFor,
} from './harness.ts';
import { startProcess } from './service-process.ts';

type App = Parameters<typeof supertest>[0];

const login = (app: App, email: string, password = goodPassword) =>
  supertest(app).post(at('/auth/login')).send({ email, password });

const waitUntil = (condition: () => Promise<boolean>): Promise<void> => expect.poll(condition).toBe(true);

describe('when Redis is killed', () => {
  test('logins succeed, logged-out tokens stay refused, guessing stays limited', async () => {
    const redis = await startRedis();
    await using _stop = { [Symbol.asyncDispose]: redis.stop };
    await using service = await startService({ variables: { REDIS_URL: redis.url } });
    const { app, context } = service;
    await waitUntil(async () => context.redis?.status === 'ready');
    const ada = await register(app);
    const eve = await register(app);
    await ada.as('get', '/auth/logout');
    expect(await context.redis?.keys('*ended*')).toHaveLength(1);

    await redis.kill9();
    expect((await ada.as('get', '/tasks')).status).toBe(401);
    expect((await eve.as('get', '/tasks')).status).toBe(200);
    const again = await login(app, ada.email);
    expect(again.status).toBe(200);
    const loggedIn = bearerOf(app, String(again.body.accessToken));
    expect((await loggedIn('post', '/tasks').send({ title: 'Without Redis' })).status).toBe(201);
    expect((await loggedIn('get', '/auth/logout')).status).toBe(204);
    expect((await loggedIn('get', '/tasks')).status).toBe(401);
    const guesses = [];
    for (let n = 0; n < 11; n++) guesses.push((await login(app, ada.email, 'a wrong guess')).status);
    expect(guesses).toEqual([...Array<number>(10).fill(401), 429]);
    expect((await supertest(app).get('/readyz')).body).toMatchObject({ checks: { redis: 'degraded' } });

    await redis.restart();
    await waitUntil(async () => context.redis?.status === 'ready');
    await context.redis?.flushall();
    expect((await ada.as('get', '/tasks')).status).toBe(401);
    expect((await loggedIn('get', '/tasks')).status).toBe(401);
    expect((await eve.as('get', '/tasks')).status).toBe(200);
  });

  test('logins succeed while it hangs, and only the first of them waits for a timeout', async () => {
    const redis = await startRedis();
    await using _stop = { [Symbol.asyncDispose]: redis.stop };
    const variables = { REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '200', RATE_LIMIT: 'on' };
    await using service = await startService({ variables });
    const { app, context } = service;
    await waitUntil(async () => context.redis?.status === 'ready');
    const { email } = await register(app);
    expect((await login(app, email)).status).toBe(200);
    process.kill(redis.pid, 'SIGSTOP');
    expect((await login(app, email)).status).toBe(200);
    await waitUntil(async () => context.redis?.status !== 'ready');
    const sendCommand = vi.spyOn(context.redis as Redis, 'sendCommand');
    for (let n = 0; n < 5; n++) expect((await login(app, email)).status).toBe(200);
    process.kill(redis.pid, 'SIGCONT');
    const commands = sendCommand.mock.calls.map(([{ name }]) => name);
    // ioredis sends these commands when it opens a new connection.
    expect(commands.filter((name) => !['client', 'hello', 'info'].includes(name))).toEqual([]);
  });

  test('a logged-out token stays refused when Redis has lost or changed its entry', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    await ada.as('get', '/auth/logout');
    const { redis } = service.context;
    for (const key of (await redis?.keys('*ended*')) ?? []) await redis?.set(key, '0');
    expect((await ada.as('get', '/tasks')).status).toBe(401);
    await redis?.del((await redis?.keys('*ended*')) ?? []);
    expect((await ada.as('get', '/tasks')).status).toBe(401);
  });
});

describe('when PostgreSQL is killed', () => {
  test('requests get 503, and everything works again when it is back', async () => {
    const postgres = await startPostgres({ durable: true });
    await using _stop = { [Symbol.asyncDispose]: postgres.stop };
    await using service = await startService({ serverUrl: postgres.url });
    const { app } = service;
    await waitUntil(async () => service.context.redis?.status === 'ready');
    const ada = await register(app);
    const eve = await register(app);
    const { body: task } = await ada.as('post', '/tasks').send({ title: 'Before' });
    await eve.as('get', '/auth/logout');

    await postgres.kill9();
    const answers = [
      await ada.as('get', '/tasks'),
      await ada.as('post', '/tasks').send({ title: 'Lost' }),
      await ada.as('patch', `/tasks/${task.id}`).send({ title: 'Lost' }),
      await ada.as('get', '/auth/logout'),
      await login(app, ada.email),
      await supertest(app).post(at('/auth/refresh')).set('Cookie', ada.cookies),
    ];
    for (const { status, type, headers, body } of answers) {
      expect([status, type, body.code]).toEqual([503, 'application/problem+json', 'database_unavailable']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(JSON.stringify(body)).not.toMatch(/ECONN|select|127\.0\.0\.1/);
    }
    expect((await eve.as('get', '/tasks')).status, 'Redis remembers who logged out').toBe(401);
    expect((await supertest(app).get('/readyz')).status).toBe(503);
    expect((await supertest(app).get('/livez')).status).toBe(200);

    await postgres.restart();
    await waitUntil(async () => (await ada.as('get', '/tasks')).status === 200);
    expect((await ada.as('get', '/tasks')).body.tasks).toEqual([task]);
    expect((await login(app, ada.email)).status).toBe(200);
    expect((await eve.as('get', '/tasks')).status).toBe(401);
  });
});

describe('when the service is killed', () => {
  test('no acknowledged task is lost', async () => {
    await using database = await createTestDatabase();
    const variables = variablesFor(database.url);
    const acknowledged: string[] = [];
    let ada;
    {
      await using first = await startProcess(variables);
      ada = await register(first.url);
      const as = ada.as;
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; ; n++) {
          const answer = await as('post', '/tasks')
            .set('Idempotency-Key', `${writer}-${n}`)
            .send({ title: `${writer}-${n}` })
            .catch(() => undefined);
          if (answer?.status !== 201) return;
          acknowledged.push(String(answer.body.id));
        }
      };
      const writers = [0, 1, 2, 3].map(write);
      await waitUntil(async () => acknowledged.length > 40);
      await first.kill();
      await Promise.all(writers);
    }
    await using second = await startProcess(variables);
    const as = bearerOf(second.url, ada.token);
    for (const id of acknowledged) expect((await as('get', `/tasks/${id}`)).status).toBe(200);
    const total = (await as('get', '/tasks?limit=200')).body.tasks.length as number;
    expect(total - acknowledged.length, 'at most one unacknowledged task per writer').toBeLessThanOrEqual(4);
  });
});
