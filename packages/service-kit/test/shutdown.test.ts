import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '@platform/local/ports';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const startProcess = async (databaseUrl: string, drainMs = 0) => {
  const port = await freePort();
  const child = spawn(process.execPath, [new URL('fixture/main.ts', import.meta.url).pathname], {
    env: { PORT: String(port), DATABASE_URL: databaseUrl, LOG_LEVEL: 'info', DRAIN_MS: String(drainMs) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  const url = `http://127.0.0.1:${port}`;
  const ready = () =>
    fetch(`${url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(ready, { timeout: 10_000 }).toBe(200);
  return { child, port, url, log: () => output, exited: once(child, 'exit') as Promise<[number | null]> };
};

test('on SIGTERM a running request finishes and the process ends with 0', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const { child, url, log, exited } = await startProcess(database.url);
  const sql = postgres(database.url, { max: 2 });
  await using _connections = { [Symbol.asyncDispose]: () => sql.end() };
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(1)`;
  const slow = fetch(`${url}/v1/slow`);
  const waiting = () => sql`select 1 from pg_locks where locktype = 'advisory' and not granted`;
  await expect.poll(async () => (await waiting()).length).toBe(1);
  child.kill('SIGTERM');
  await expect.poll(log).toContain('"signal":"SIGTERM"');
  await holder`select pg_advisory_unlock(1)`;
  holder.release();
  expect((await slow).status).toBe(204);
  expect((await exited)[0]).toBe(0);
}, 20_000);

test('while it drains a process accepts requests, is not ready and closes each connection after its answer', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const { child, url, exited } = await startProcess(database.url, 1000);
  child.kill('SIGTERM');
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
  const answer = await fetch(`${url}/v1/notes/one`);
  expect([answer.status, answer.headers.get('connection')]).toEqual([404, 'close']);
  expect((await exited)[0]).toBe(0);
}, 20_000);

test('a request on a kept-alive connection is answered after the process stopped listening', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const { child, port, exited } = await startProcess(database.url, 1000);
  const request = 'GET /v1/notes/one HTTP/1.1\r\nHost: x\r\n\r\n';
  const kept = connect(port, '127.0.0.1');
  kept.write(request);
  await once(kept, 'data');
  child.kill('SIGTERM');
  const refused = async () => {
    const probe = connect(port, '127.0.0.1');
    const connected = await once(probe, 'connect').then(
      () => true,
      () => false,
    );
    probe.destroy();
    return !connected;
  };
  await expect.poll(refused, { timeout: 5000 }).toBe(true);
  kept.write(request);
  expect(String(await once(kept, 'data'))).toMatch(/^HTTP\/1\.1 404 [^]*\r\nConnection: close\r\n/i);
  expect((await exited)[0]).toBe(0);
}, 20_000);

test('SIGINT ends a process without the time to drain', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const { child, exited } = await startProcess(database.url, 600_000);
  child.kill('SIGINT');
  expect((await exited)[0]).toBe(0);
}, 20_000);

test('metrics name routes by their template, the pool and the event loop', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const { child, url, exited } = await startProcess(database.url);
  await fetch(`${url}/v1/notes/one`);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  child.kill('SIGTERM');
  await exited;
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
}, 20_000);

test('wrong settings end the process with exit code 1 and one message without a stack trace', async () => {
  const child = spawn(process.execPath, [new URL('fixture/main.ts', import.meta.url).pathname], {
    env: { PORT: '1', DATABASE_URL: 'mysql://secret@host/x' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(1);
  expect(errors).toMatch(/^fixture cannot start\. Missing or wrong settings:\n {2}DATABASE_URL: [^\n]+\n$/);
}, 20_000);
