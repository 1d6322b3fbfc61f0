import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import postgres from 'postgres';
import { expect, test, inject, onTestFinished } from 'vitest';
import { temporaryTestFolder } from '../../test/stack.ts';
import { answersSql } from '../cluster.ts';
import { baseEnv } from '../env.ts';
import { redisAnswers } from '../redis.ts';
import { run } from '../spawn.ts';

const script = join(import.meta.dirname, 'run.ts');

test('`test` rejects an unknown project, even together with a known one', async () => {
  const args = [script, '--project', 'quest-service', '--project', 'quest', 'no-such-file'];
  const { code, output } = await run(process.execPath, args, { env: baseEnv() });
  expect(code).toBe(2);
  expect(output).toMatch(/^There is no project quest; the projects are .*openapi-tests, .*quest-service/);
});

test('tests get a PostgreSQL 18 and its superuser', async () => {
  const sql = postgres(inject('postgresUrl'), { max: 1 });
  const [row] = await sql`
    select current_setting('server_version_num')::int / 10000 as major, usesuper from pg_user where usename = current_user`;
  expect(row).toEqual({ major: 18, usesuper: true });
  await sql.end();
});

test.runIf(inject('redisUrl'))('tests get a running Redis', async () => {
  expect(await redisAnswers(inject('redisUrl') ?? '')).toBe(true);
});

/** Starts a vitest run with two projects. `lines` reads the server URLs that their tests report; with `hold` it does not end. */
const startTestRun = async (hold: boolean) => {
  const reportFile = join(await temporaryTestFolder(), 'report');
  await writeFile(reportFile, '');
  if (hold) await writeFile(`${reportFile}.hold`, '');
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
  const child: ChildProcess = spawn(process.execPath, [vitest, 'run'], {
    cwd: join(import.meta.dirname, '../../test/fixtures/vitest'),
    env: { ...baseEnv(), REPORT_FILE: reportFile },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const lines = async (): Promise<string[]> =>
    (await readFile(reportFile, 'utf8')).split('\n').filter(Boolean);
  return { child, ended, lines };
};

const waitUntilStopped = async (line = ''): Promise<void> => {
  const [postgresUrl = '', redisUrl = ''] = line.split(' ');
  const responses = async () => [await answersSql(postgresUrl), await redisAnswers(redisUrl)];
  await expect.poll(responses).toEqual([false, false]);
};

test('all projects of a run share one set of servers, which stops with the run', async () => {
  const { ended, lines } = await startTestRun(false);
  expect(await ended).toBe(0);
  const [first, second, ...others] = await lines();
  expect(second).toBe(first);
  expect(others).toEqual([]);
  await waitUntilStopped(first);
});

test.each(['SIGKILL', 'SIGINT'] as const)('a run that ends by %s leaves no server behind', async (signal) => {
  const { child, ended, lines } = await startTestRun(true);
  await expect.poll(lines).not.toEqual([]);
  const [line] = await lines();
  child.kill(signal);
  await ended;
  await waitUntilStopped(line);
});
