import { startPostgres, type PostgresServer } from '@platform/local/postgres';
import postgres from 'postgres';
import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { get, makeQuest, question, startService, titlesOf, write } from './harness.ts';
import { remainingTtl, warmUp } from './warm-up.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: true });
});
afterAll(() => server.stop());

test('without PostgreSQL requests get 503; when it is back they succeed without a restart and nothing is lost', async () => {
  await using service = await startService({ serverUrl: server.url, variables: { REDIS_URL: '' } });
  const questId = await makeQuest(service, ['a']);
  const path = `/quests/${questId}/questions`;
  await write(service, 'post', path, question('b')).expect(201);
  await server.kill9();
  const calls = [
    () => get(service, path),
    () => get(service, `/quests/${questId}`),
    () => get(service, '/quests'),
    () => write(service, 'post', path, question('c')),
    () => write(service, 'put', path, []),
    () => write(service, 'delete', `/quests/${questId}`),
  ];
  for (const call of calls) {
    const answer = await call().expect(503).expect('Content-Type', 'application/problem+json');
    expect(answer.body).toMatchObject({ status: 503, code: 'database_unavailable' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }
  await supertest(service.app).get('/livez').expect(200);
  await supertest(service.app).get('/readyz').expect(503);
  await server.restart();
  await expect.poll(async () => (await get(service, path)).status).toBe(200);
  expect(await titlesOf(service, questId)).toEqual(['a', 'b']);
  await write(service, 'post', path, question('c')).expect(201);
});

test('a hot quest is still returned just after PostgreSQL has failed', async () => {
  await using service = await startService({ serverUrl: server.url });
  const questId = await makeQuest(service, ['a']);
  await warmUp(service, questId);
  await expect
    .poll(() => titlesOf(service, questId).then(() => remainingTtl(service, questId)))
    .toBeGreaterThan(1300);
  await server.kill9();
  expect(await titlesOf(service, questId)).toEqual(['a']);
  await get(service, `/quests/${questId}/questions?Skip=1`).expect(503);
  await server.restart();
});

test('without the cache a list is refused before any work while too many others wait for the database', async () => {
  const variables = { REDIS_URL: '', QUESTS_CACHE_BYTES: '0', DATABASE_QUEUE: '1' };
  await using service = await startService({ serverUrl: server.url, variables });
  const questId = await makeQuest(service, ['a']);
  const holder = postgres(service.databaseUrl, { max: 1 });
  await using _connection = { [Symbol.asyncDispose]: () => holder.end() };
  await holder`begin`;
  await holder`lock table quests in access exclusive mode`;
  const list = () => get(service, `/quests/${questId}/questions`);
  const waiting = Array.from({ length: 30 }, () => list().then(({ status }) => status));
  const metrics = async () => (await supertest(service.app).get('/metrics')).text;
  await expect.poll(metrics).toMatch(/^http_requests_refused_total [1-9]/m);
  expect((await list().expect(503)).body).toMatchObject({ code: 'too_busy' });
  await holder`rollback`;
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([200, 503]));
});
