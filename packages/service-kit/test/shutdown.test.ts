import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { cloneDatabase, startServiceProcess, type ServiceProcess } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const optionsOf = (databaseUrl: string, drainMs = 0) => ({
  folder: new URL('fixture', import.meta.url).pathname,
  script: 'main.ts',
  // Longer than a busy machine needs.
  variables: { DATABASE_URL: databaseUrl, DRAIN_MS: String(drainMs), SHUTDOWN_TIMEOUT_MS: '120000' },
});

const startProcess = (databaseUrl: string, drainMs?: number): Promise<ServiceProcess> =>
  startServiceProcess(optionsOf(databaseUrl, drainMs));

test('on SIGTERM a running request finishes and the process ends with 0', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startProcess(database.url);
  const sql = postgres(database.url, { max: 2 });
  await using _connections = { [Symbol.asyncDispose]: () => sql.end() };
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(1)`;
  const slow = fetch(`${service.url}/v1/slow`);
  const waiting = () =>
    sql`select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await expect.poll(async () => (await waiting()).length).toBe(1);
  service.signal('SIGTERM');
  await expect.poll(() => service.lines.join('\n')).toContain('"signal":"SIGTERM"');
  await holder`select pg_advisory_unlock(1)`;
  holder.release();
  expect((await slow).status).toBe(204);
  expect(await service.exited()).toBe(0);
});

test('a draining process accepts requests, is not ready and closes each connection after its answer', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startProcess(database.url, 8000);
  service.signal('SIGTERM');
  await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(503);
  const answer = await fetch(`${service.url}/v1/notes/one`);
  expect([answer.status, answer.headers.get('connection')]).toEqual([404, 'close']);
  expect(await service.exited()).toBe(0);
});

test('a request on a kept-alive connection is answered even if the process no longer listens', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startProcess(database.url, 3000);
  const request = 'GET /v1/notes/one HTTP/1.1\r\nHost: x\r\n\r\n';
  const kept = connect(service.port, '127.0.0.1');
  kept.write(request);
  await once(kept, 'data');
  service.signal('SIGTERM');
  const refused = async () => {
    const probe = connect(service.port, '127.0.0.1');
    const connected = await once(probe, 'connect').then(
      () => true,
      () => false,
    );
    probe.destroy();
    return !connected;
  };
  await expect.poll(refused).toBe(true);
  kept.write(request);
  expect(String(await once(kept, 'data'))).toMatch(/^HTTP\/1\.1 404 [^]*\r\nConnection: close\r\n/i);
  expect(await service.exited()).toBe(0);
});

test('on SIGTERM requests whose body does not arrive get 503, and the process ends with 0', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startProcess(database.url);
  const head = 'POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const answers = Array.from({ length: 5 }, async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write(`${head}Content-Length: 5000\r\n\r\n{"id":`);
    return text(socket);
  });
  // A later request is answered, so these have arrived.
  expect((await fetch(`${service.url}/v1/notes/one`)).status).toBe(404);
  service.signal('SIGTERM');
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*"too_busy"/);
  expect(await service.exited()).toBe(0);
});

test('SIGINT ends a process without draining', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startProcess(database.url, 600_000);
  service.signal('SIGINT');
  expect(await service.exited()).toBe(0);
});

test('metrics contain routes by template, the pool and the event loop', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startProcess(database.url);
  await fetch(`${service.url}/v1/notes/one`);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  service.signal('SIGTERM');
  await service.exited();
  expect(metrics).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/v1\/notes\/\{id\}",status="404"\} 1/,
  );
  for (const name of [
    'db_pool_connections',
    'db_pool_waiting 0',
    'db_pool_refused_total 0',
    'db_up 1',
    'nodejs_eventloop_lag_seconds',
  ]) {
    expect(metrics).toContain(name);
  }
});

test('a process that fails before it disposes of its service does not leave it running', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const failing = `
    import { startServiceProcess } from '${new URL('../src/testing/process.ts', import.meta.url).href}';
    await startServiceProcess(${JSON.stringify(optionsOf(database.url))});
    throw new Error('the set-up fails');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', failing], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(errors).toContain('the set-up fails');
});

test('wrong settings end the process with exit code 1 and one message without a stack trace', async () => {
  const child = spawn(process.execPath, [new URL('fixture/main.ts', import.meta.url).pathname], {
    env: { PORT: '1', DATABASE_URL: 'mysql://secret@host/x' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(1);
  expect(errors).toMatch(
    /^fixture cannot start\. Missing or wrong settings:\n {2}DATABASE_URL is wrong: [^\n]+\nThe README of fixture [^\n]+\n$/,
  );
});
