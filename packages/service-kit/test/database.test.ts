import postgres from 'postgres';
import { startPostgres } from '@platform/local/postgres';
import supertest from 'supertest';
import { expect, inject, test } from 'vitest';
import { migrate, pendingMigrations } from '../src/process/migrate.ts';
import { toProblem } from '../src/http/problem.ts';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';
import { startFixture } from './harness.ts';

test('two migrations that start at once take turns', async () => {
  const server = postgres(inject('postgresUrl'), { max: 1 });
  await server`create database twice`;
  await server.end();
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/twice';
  await Promise.all([1, 2, 3].map(() => migrate(url.href, migrations)));
  const sql = postgres(url.href, { max: 1 });
  expect(await sql`select count(*)::int as applied from schema_migrations`).toEqual([{ applied: 1 }]);
  expect(await pendingMigrations(sql, migrations)).toBe(0);
  await sql.end();
});

test('each clone is a database of its own', async () => {
  await using first = await cloneDatabase(inject('postgresUrl'), migrations);
  await using second = await cloneDatabase(inject('postgresUrl'), migrations);
  expect(first.url).not.toBe(second.url);
});

test('is not ready before its migrations have run', async () => {
  await using fixture = await startFixture();
  await fixture.context.database.sql`truncate schema_migrations`;
  const answer = await supertest(fixture.app).get('/readyz');
  expect([answer.status, answer.body]).toMatchObject([
    503,
    { checks: { migrations: 'down', database: 'ok' } },
  ]);
});

test('a database that is killed and comes back needs no restart of the service', async () => {
  const server = await startPostgres({});
  try {
    await using database = await cloneDatabase(server.url, migrations);
    await using fixture = await startFixture({ DATABASE_URL: database.url });
    const read = () => supertest(fixture.app).get('/v1/notes/a');
    expect((await read()).status).toBe(404);
    await server.kill9();
    const away = await read();
    expect([away.status, away.body, away.headers['retry-after']]).toMatchObject([
      503,
      { code: 'database_unavailable' },
      expect.any(String),
    ]);
    expect((await supertest(fixture.app).get('/readyz')).status).toBe(503);
    await server.restart();
    await expect.poll(async () => (await read()).status, { timeout: 10_000 }).toBe(404);
    expect((await supertest(fixture.app).get('/readyz')).status).toBe(200);
  } finally {
    await server.stop();
  }
});

test('a statement that takes too long is a 503, not a stuck connection', async () => {
  await using fixture = await startFixture();
  const slow = fixture.context.database.sql.begin(async (sql) => {
    await sql`set local statement_timeout = 50`;
    await sql`select pg_sleep(10)`;
  });
  const error = await slow.catch((reason: unknown) => reason);
  expect(toProblem(error)).toMatchObject({ status: 503, code: 'query_timeout' });
});
