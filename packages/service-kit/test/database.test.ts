import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { startPostgres } from '@platform/local/postgres';
import supertest from 'supertest';
import { expect, inject, onTestFinished, test } from 'vitest';
import { addPoolMetrics } from '../src/process/metrics.ts';
import { migrate, pendingMigrations, type Migrations } from '../src/database/migrate.ts';
import { inSchema } from '../src/database/schema.ts';
import { toProblem } from '../src/http/problem.ts';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';
import { startFixture } from './harness.ts';

test('concurrent migrations take turns', async () => {
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

/** Creates a folder with these migrations: [name, time in the journal, SQL]. */
const folderOf = async (files: [string, number, string][]): Promise<Migrations> => {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  const entries = files.map(([tag, when], idx) => ({ idx, version: '7', when, tag, breakpoints: true }));
  await mkdir(join(folder, 'meta'));
  await writeFile(
    join(folder, 'meta/_journal.json'),
    JSON.stringify({ version: '7', dialect: 'postgresql', entries }),
  );
  for (const [tag, , sql] of files) await writeFile(join(folder, `${tag}.sql`), sql);
  return { folder };
};

test('a migration that was merged late, edited or reordered is refused, not skipped', async () => {
  const server = postgres(inject('postgresUrl'), { max: 1 });
  await server`create database late_merge`;
  await server.end();
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/late_merge';
  const first: [string, number, string] = ['0000_a', 1, 'create table a (id int)'];
  const third: [string, number, string] = ['0002_c', 3, 'create table c (id int)'];
  await migrate(url.href, await folderOf([first, third]));
  const late = await folderOf([first, ['0001_b', 2, 'create table b (id int)'], third]);
  await expect(migrate(url.href, late)).rejects.toThrow('instead of 0001_b');
  const edited = await folderOf([['0000_a', 1, 'create table a (id bigint)'], third]);
  await expect(migrate(url.href, edited)).rejects.toThrow('instead of 0000_a');
  const reordered = await folderOf([first, third, ['0003_d', 2, 'create table d (id int)']]);
  await expect(migrate(url.href, reordered)).rejects.toThrow('0003_d is not newer than 0002_c');
  const sql = postgres(url.href, { max: 1 });
  expect(await pendingMigrations(sql, late)).toBe(1);
  expect(await sql`select to_regclass('b') as b, to_regclass('d') as d`).toEqual([{ b: null, d: null }]);
  await migrate(url.href, await folderOf([first]));
  await sql.end();
});

test('tables go into the schema of the service, and a database that has them in `public` is refused', async () => {
  const server = postgres(inject('postgresUrl'), { max: 1 });
  await server`create database of_a_schema`;
  await server.end();
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/of_a_schema';
  const folder = await folderOf([['0000_a', 1, 'create table a (id int)']]);
  await migrate(inSchema(url.href, 'note-book'), folder);
  await migrate(inSchema(url.href, 'note-book', 'cell_b'), folder);
  const sql = postgres(url.href, { max: 1 });
  expect(await sql`select schemaname as schema from pg_tables where tablename = 'a' order by 1`).toEqual([
    { schema: 'cell_b' },
    { schema: 'note_book' },
  ]);
  await migrate(url.href, folder);
  await expect(migrate(inSchema(url.href, 'note-book'), folder)).rejects.toThrow('in the schema `public`');
  await sql.end();
});

test('a migration that cannot lock its table fails soon, so that requests do not wait behind it', async () => {
  const first: [string, number, string] = ['0000_a', 1, 'create table a (id int)'];
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/in_use';
  const server = postgres(inject('postgresUrl'), { max: 1 });
  await server`create database in_use`;
  await server.end();
  await migrate(url.href, await folderOf([first]));
  const sql = postgres(url.href, { max: 1 });
  const next = await folderOf([first, ['0001_b', 2, 'alter table a add column b text']]);
  await sql.begin(async (tx) => {
    await tx`select * from a`;
    await expect(migrate(url.href, next)).rejects.toMatchObject({ cause: { code: '55P03' } });
  });
  await migrate(url.href, next);
  expect(await sql`select b from a`).toEqual([]);
  await sql.end();
});

test('db_up shows an outage of the database in the same scrape', async () => {
  const server = await startPostgres({});
  try {
    await using database = await cloneDatabase(server.url, migrations);
    await using fixture = await startFixture({ DATABASE_URL: database.url });
    addPoolMetrics(fixture.context.metrics, fixture.context.database);
    const scrape = async () => (await supertest(fixture.app).get('/metrics')).text;
    expect(await scrape()).toMatch(/^db_up 1$/m);
    await server.kill9();
    expect(await scrape()).toMatch(/^db_up 0$/m);
    await server.restart();
  } finally {
    await server.stop();
  }
});

test('each clone is a separate database', async () => {
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

test('the service recovers from a database crash without a restart', async () => {
  const server = await startPostgres({});
  try {
    await using database = await cloneDatabase(server.url, migrations);
    await using fixture = await startFixture({ DATABASE_URL: database.url });
    const read = () => supertest(fixture.app).get('/v1/notes/a');
    expect((await read()).status).toBe(404);
    await server.kill9();
    const outage = await read();
    expect([outage.status, outage.body, outage.headers['retry-after']]).toMatchObject([
      503,
      { code: 'database_unavailable' },
      expect.any(String),
    ]);
    expect((await supertest(fixture.app).get('/readyz')).status).toBe(503);
    await server.restart();
    await expect.poll(async () => (await read()).status).toBe(404);
    expect((await supertest(fixture.app).get('/readyz')).status).toBe(200);
  } finally {
    await server.stop();
  }
});

test('a statement that gets a connection between its reset and its close fails instead of hanging', async () => {
  const { hostname, port } = new URL(inject('postgresUrl'));
  const sockets: Socket[] = [];
  const socket = async (): Promise<Socket> => {
    const created = connect(Number(port), hostname);
    sockets.push(created);
    await once(created, 'connect');
    return created;
  };
  const sql = postgres(inject('postgresUrl'), { max: 1, socket } as postgres.Options<{}>);
  await sql`select 1`;
  const outcome = new Promise((resolve) =>
    sockets[0]?.on('error', () => void sql`select 2`.catch((error: unknown) => resolve(error))),
  );
  sockets[0]?.destroy(new Error('reset'));
  expect(await outcome).toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect(await sql`select 3 as n`).toEqual([{ n: 3 }]);
  await sql.end();
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

/** Checks our patch of postgres.js, which kept each statement as long as its connection: callers choose filters and fields. */
test('a connection keeps the 256 prepared statements that were used last', async () => {
  const sql = postgres(inject('postgresUrl'), { max: 1 });
  onTestFinished(() => sql.end());
  const textOf = (n: number): string => `select ${n} as n, $1::int as v`;
  const run = (n: number, v: number | null) => sql.unsafe(textOf(n), [v], { prepare: true });
  for (let n = 0; n < 300; n += 1) {
    expect(await run(n, 7)).toEqual([{ n, v: 7 }]);
    await sql`select 'used again'`;
    // Not prepared.
    await sql.unsafe(`select ${n}`);
  }
  const kept = await sql<{ statement: string }[]>`select statement from pg_prepared_statements`;
  const texts = kept.map(({ statement }) => statement);
  expect(texts).toHaveLength(256);
  expect(texts).toEqual(expect.arrayContaining([textOf(299), "select 'used again'"]));
  expect(texts).not.toContain(textOf(1));
  expect(await run(1, 8)).toEqual([{ n: 1, v: 8 }]);
  // The statement that takes the place of another one may be wrong.
  await expect(sql`select wrong`).rejects.toThrow('column "wrong" does not exist');
  expect(await run(2, null)).toEqual([{ n: 2, v: null }]);
});
