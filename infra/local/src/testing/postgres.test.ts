import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { answersSql } from '../cluster.ts';
import { exists } from '../local-folder.ts';
import { startPostgres } from './postgres.ts';
import { identify, isRunning, runningIn } from '../process.ts';
import { redisAnswers } from '../redis.ts';
import { startRedis } from './redis.ts';

test('after kill -9 during a statement, PostgreSQL restarts with all committed data', async () => {
  const server = await startPostgres({ durable: true });
  onTestFinished(server.stop);
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  await sql`create table committed_rows (id int)`;
  await sql`insert into committed_rows values (1)`;
  const [pid, busy] = [server.pid, sql`select pg_sleep(60)`.catch((error: Error) => error)];
  busy.then(
    () => {},
    () => {},
  );
  await server.kill9();
  await server.restart();
  expect(server.pid).not.toBe(pid);
  expect(await sql`select id from committed_rows`).toEqual([{ id: 1 }]);
  await sql.end();
  expect(await busy).toBeInstanceOf(Error);
});

test('stopping PostgreSQL removes its processes and files', async () => {
  const server = await startPostgres();
  const id = identify(server.pid);
  await server.stop();
  expect(isRunning(id)).toBe(false);
  expect(await exists(server.dataDir)).toBe(false);
});

const pausedServerScript = `
  import { startPostgres } from ${JSON.stringify(join(import.meta.dirname, 'postgres.ts'))};
  import { runningIn } from ${JSON.stringify(join(import.meta.dirname, '../process.ts'))};
  const { dataDir } = await startPostgres();
  for (const pid of runningIn(dataDir)) process.kill(pid, 'SIGSTOP');
  process.stdout.write(dataDir + '\\n');
  setInterval(() => {}, 1000);`;

test('killing the process that started PostgreSQL removes the server even if its processes are paused', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', pausedServerScript], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [dataDir] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(runningIn(dataDir).length).toBeGreaterThan(1);
  child.kill('SIGKILL');
  await expect.poll(() => runningIn(dataDir)).toEqual([]);
  await expect.poll(() => exists(dataDir)).toBe(false);
});

test('Redis can be killed and restarted on the same address', async () => {
  const server = await startRedis();
  onTestFinished(server.stop);
  await server.kill9();
  expect(await redisAnswers(server.url)).toBe(false);
  await server.restart();
  expect(await redisAnswers(server.url)).toBe(true);
});

test('a server that closes the connection or sends nothing counts as not responding', async () => {
  const servers = [createServer((socket) => void socket.end()), createServer()];
  onTestFinished(() => servers.forEach((server) => server.close()));
  for (const server of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await redisAnswers(`redis://127.0.0.1:${port}`)).toBe(false);
    expect(await answersSql(`postgres://postgres@127.0.0.1:${port}/postgres`)).toBe(false);
  }
});

test('the log of PostgreSQL contains no value of a failing statement', async () => {
  const server = await startPostgres();
  onTestFinished(server.stop);
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  const value = 'hunter2-value';
  await sql`create table people (name text primary key)`;
  const statements = [
    sql`select ${value}::uuid`,
    sql`insert into people values (${value}), (${value})`,
    sql.unsafe(`select '${value}' where no_column = 1`),
    sql.unsafe(`do $$ begin raise exception '${value}' using detail = '${value}'; end $$`),
  ];
  for (const statement of statements) await expect(statement).rejects.toThrow(/\S/);
  await sql.unsafe(`set log_min_duration_statement = 0`);
  await sql`select ${value}::text`;
  await sql.end();
  const log = await readFile(server.logFile, 'utf8');
  expect(log).toContain('duration:');
  expect(log).not.toContain(value);
});
