import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '@platform/local/ports';
import { expect, inject, test } from 'vitest';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const startProcess = async (databaseUrl: string) => {
  const port = await freePort();
  const child = spawn(process.execPath, [new URL('fixture/main.ts', import.meta.url).pathname], {
    env: { PORT: String(port), DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' },
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
  return { child, url, log: () => output, exited: once(child, 'exit') as Promise<[number | null]> };
};

test('on SIGTERM a running request finishes and the process ends with 0', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const { child, url, log, exited } = await startProcess(database.url);
  const slow = fetch(`${url}/v1/slow`);
  await expect.poll(async () => (await fetch(`${url}/livez`)).status).toBe(200);
  child.kill('SIGTERM');
  expect((await slow).status).toBe(204);
  expect((await exited)[0]).toBe(0);
  expect(log()).toMatch(/"signal":"SIGTERM"/);
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
    'db_pool_wait_seconds',
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
