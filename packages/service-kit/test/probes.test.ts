import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startPostgres } from '@platform/local/postgres';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { migrate } from '../src/database/migrate.ts';
import { cloneDatabase, inTestSchema, startServiceProcess } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const start = (databaseUrl: string, variables: Record<string, string> = {}) =>
  startServiceProcess({
    folder: new URL('fixture', import.meta.url).pathname,
    script: 'main.ts',
    variables: { DATABASE_URL: databaseUrl, PROBE_PORT: '0', SHUTDOWN_TIMEOUT_MS: '120000', ...variables },
  });

test('probes have a separate listener, and the main one answers them too', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url);
  for (const port of [service.port, service.probePort])
    for (const path of ['livez', 'readyz', 'metrics'])
      expect((await fetch(`http://127.0.0.1:${port}/${path}`)).status).toBe(200);
  for (const path of ['v1/notes/one', 'openapi.json', 'ops/status']) {
    const answer = await fetch(`http://127.0.0.1:${service.probePort}/${path}`);
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found' }]);
  }
});

test('a process that has seen its migrations stays ready without its database', async () => {
  const server = await startPostgres({ durable: true });
  await using _server = { [Symbol.asyncDispose]: () => server.stop() };
  const url = inTestSchema(server.url);
  await using service = await start(url);
  /** Statuses without and with the check of the database. */
  const probe = () =>
    Promise.all(
      ['?exclude=database', ''].map(
        async (query) => (await fetch(`http://127.0.0.1:${service.probePort}/readyz${query}`)).status,
      ),
    );
  expect(await probe()).toEqual([503, 503]);
  await migrate(url, migrations);
  await expect.poll(probe).toEqual([200, 200]);
  await server.kill9();
  await expect.poll(probe).toEqual([200, 503]);
  await using later = await start(url);
  const { status } = await fetch(`http://127.0.0.1:${later.probePort}/readyz?exclude=database`);
  expect(status).toBe(503);
});

test('probes are answered while clients hold all connections of the main listener', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url, { MAX_CONNECTIONS: '5', DATABASE_WAIT_MS: '60000' });
  const sql = postgres(database.url, { max: 1 });
  await using _connection = { [Symbol.asyncDispose]: () => sql.end() };
  await sql`select pg_advisory_lock(1)`;
  const clients: Socket[] = [];
  for (let at = 0; at < 5; at++) {
    const client = connect(service.port, '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    client.write('GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n');
    clients.push(client);
  }
  const livez = (port: number) =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      ({ status }) => status,
      () => undefined,
    );
  await expect.poll(() => livez(service.port)).toBeUndefined();
  expect(await livez(service.probePort)).toBe(200);
  for (const client of clients) client.destroy();
  await sql`select pg_advisory_unlock(1)`;
});

test('probes return "draining" until the process has ended', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url, { DRAIN_MS: '3000' });
  const url = `http://127.0.0.1:${service.probePort}/readyz`;
  const keepAlive = await fetch(url);
  expect(await keepAlive.json()).toMatchObject({ status: 'ready' });
  service.signal('SIGTERM');
  await expect.poll(async () => (await fetch(url)).json()).toMatchObject({ status: 'draining' });
  expect(await service.exited()).toBe(0);
});
