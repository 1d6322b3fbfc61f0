import { execFileSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { cloneDatabase, startServiceProcess } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

test('without a free file descriptor a process answers 503, and recovers', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await startServiceProcess({
    folder: new URL('fixture', import.meta.url).pathname,
    script: 'main.ts',
    variables: { DATABASE_URL: database.url },
  });
  const limitDescriptors = (limit: number) =>
    execFileSync('prlimit', ['--pid', String(service.pid), `--nofile=${limit}:4096`]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const status = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${service.url}/v1/notes/one`, { agent }, (res) => {
        res.resume().once('end', () => resolve(res.statusCode));
      })
        .once('error', reject)
        .end();
    });
  expect(await status()).toBe(404);

  // Open connections stay open, but new ones cannot get a descriptor.
  limitDescriptors(3);
  const client = connect(service.port, '127.0.0.1').on('error', () => undefined);
  const sql = postgres(inject('postgresUrl'), { max: 1 });
  const name = new URL(database.url).pathname.slice(1);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
  await sql.end();
  await expect.poll(status).toBe(503);

  limitDescriptors(1024);
  await expect.poll(status).toBe(404);
  expect(service.lines.join('')).not.toContain('internal_error');
  client.destroy();
  agent.destroy();
  expect(await service.stop()).toBe(0);
});
