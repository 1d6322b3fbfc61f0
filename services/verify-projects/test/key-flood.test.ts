import { makeApiKey } from '@platform/auth/api-keys';
import postgres from 'postgres';
import request from 'supertest';
import { expect, inject, test } from 'vitest';
import { startService } from './harness.ts';

/** Transactions that PostgreSQL has counted in a database; its connections must be closed before. */
const transactionsIn = async (databaseUrl: string): Promise<number> => {
  const server = postgres(inject('postgresUrl'), { max: 1 });
  const [row] = await server<{ count: string }[]>`
    select xact_commit + xact_rollback as count from pg_stat_database
    where datname = ${new URL(databaseUrl).pathname.slice(1)}`;
  await server.end();
  return Number(row?.count);
};

test('a flood of well-formed unknown keys costs the database a bounded number of transactions', async () => {
  const limit = 20;
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', REDIS_URL: '', UNKNOWN_CREDENTIALS_PER_MINUTE: String(limit) },
  });
  const ask = (key: string, address: string) =>
    request(service.app).get('/v1/languages').set('X-API-Key', key).set('X-Forwarded-For', address);
  const statuses = new Map<number, number>();
  for (let wave = 0; wave < 50; wave++) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(makeApiKey().key, '203.0.113.9')));
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(statuses.get(429)).toBeGreaterThanOrEqual(500 - limit - 10);
  expect((await ask(service.key, '203.0.113.10')).status).toBe(200);
  await service.context.database[Symbol.asyncDispose]();
  // The look-ups, those of one wave that were under way already, and what starting up takes.
  expect(await transactionsIn(service.databaseUrl)).toBeLessThan(limit + 10 + 60);
});

test('unknown keys of a network refuse neither its known keys nor its access tokens', async () => {
  const limit = 20;
  const address = '203.0.113.9';
  await using service = await startService({
    variables: { RATE_LIMIT: 'on', REDIS_URL: '', UNKNOWN_CREDENTIALS_PER_MINUTE: String(limit) },
  });
  const other = await service.storeKey();
  const ask = (key: string) =>
    request(service.app).get('/v1/languages').set('X-API-Key', key).set('X-Forwarded-For', address);
  expect((await ask(service.key)).status).toBe(200);
  const wrong = makeApiKey().key;
  expect((await ask(wrong)).status).toBe(401);
  for (let count = 0; count < 2 * limit; count++) await ask(makeApiKey().key);
  expect((await ask(makeApiKey().key)).status).toBe(429);
  expect((await ask(service.key)).status).toBe(200);
  // This process has not accepted the key before, so that it would have to be looked up.
  expect((await ask(other.key)).status).toBe(429);
  // This one was refused before, which the process remembers.
  expect((await ask(wrong)).status).toBe(401);
  const listed = await service.admin.get('/api-keys').set('X-Forwarded-For', address);
  expect(listed.status).toBe(200);
});
