import { execFileSync } from 'node:child_process';
import { inspect } from 'node:util';
import type {} from '@platform/local/provided';
import { sql as fragment } from 'drizzle-orm';
import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { Unavailable, ValidationFailed } from '../http/problem.ts';
import { openDatabase } from '../database/database.ts';
import { describeError, safeError, SafeError } from './safe-error.ts';

const secret = 'hunter2-secret';

const errorOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: Error) => error,
  );

test.each([
  ['22P02', (value: string) => fragment`select ${value}::uuid`],
  ['23505', (value: string) => fragment`insert into pg_temp.people values (${value}), (${value})`],
  ['P0001', (value: string) => fragment`select pg_temp.complain(${value})`],
  ['42601', (value: string) => fragment`select to_tsquery(${`${value} &`})`],
])(
  'no field of an error %s of PostgreSQL has a value of the statement, drizzle’s included',
  async (code, statement) => {
    await using database = openDatabase({ url: inject('postgresUrl'), name: 'safe-error', max: 1 });
    await database.sql.unsafe(`create temporary table people (name text primary key);
    create function pg_temp.complain(value text) returns void language plpgsql as
      $$ begin raise exception '% is bad', value using detail = value, hint = value; end $$`);
    const error = await errorOf(database.orm.execute(statement(secret)));
    expect(error.cause).toMatchObject({ code });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(secret);
    expect(describeError(error)).toMatchObject({ message: expect.stringContaining('$1'), code });
  },
);

test('an error of Redis names the command without its arguments', async () => {
  const redis = new Redis(inject('redisUrl') ?? '', { lazyConnect: true });
  await redis.connect();
  const error = await errorOf(
    redis.call('lpush', 'a', secret, secret).then(() => redis.call('incrby', 'a', secret)),
  );
  await redis.del('a');
  redis.disconnect();
  expect(error).toMatchObject({ command: { name: 'incrby' } });
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(secret);
});

test.each([
  ['a parser', () => JSON.parse(secret) as unknown, 'SyntaxError'],
  ['Node.js', () => new URL(secret), 'TypeError ERR_INVALID_URL'],
  [
    'a problem of a request',
    () => {
      throw new ValidationFailed({ [secret]: ['unknown'] });
    },
    'ValidationFailed validation_failed',
  ],
])(
  'the message of %s, which may quote its input, is neither logged nor reported',
  (_source, work, message) => {
    const error = new Error(`${secret}\n    at ${secret}`);
    try {
      work();
    } catch (cause) {
      error.cause = cause;
    }
    const described = describeError(error);
    expect(described).toMatchObject({ message: expect.stringContaining('Error'), cause: { message } });
    expect(JSON.stringify(described)).not.toContain(secret);
    expect(inspect(safeError(error))).not.toContain(secret);
    expect(safeError(error).stack).toMatch(/safe-error\.test\.ts/);
  },
);

test('messages of our own errors are logged, with causes up to a bounded depth', () => {
  const error = new SafeError('the index is out of date');
  error.cause = new Unavailable('too_busy', 'Try again.', error);
  expect(describeError(error)).toMatchObject({
    type: 'SafeError',
    message: 'the index is out of date',
    cause: { message: 'Try again.', code: 'too_busy', cause: { message: 'the index is out of date' } },
  });
});

test('a service that fails while it starts or runs prints no field of the error', () => {
  for (const failing of [
    `createContext: () => { throw failure; }, createApp: () => undefined`,
    `createContext: () => { setImmediate(() => { throw failure; }); return new Promise(() => undefined); }, createApp: () => undefined`,
    `createContext: () => { void Promise.reject(failure); return new Promise(() => undefined); }, createApp: () => undefined`,
  ]) {
    const script = `
      import { runService } from '${new URL('./service.ts', import.meta.url).href}';
      const failure = Object.assign(new Error('${secret}'), { code: 'E1', parameters: ['${secret}'] });
      const env = () => ({ LOG_LEVEL: 'info' });
      setTimeout(() => process.exit(1), 20_000).unref();
      await runService({ name: 'test', env, ${failing} });`;
    let printed = '';
    try {
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    } catch (error) {
      const { stdout, stderr, status } = error as { stdout: Buffer; stderr: Buffer; status: number };
      printed = `${status} ${String(stdout)}${String(stderr)}`;
    }
    expect(printed).toMatch(/^70 .*"level":"fatal".*"code":"E1"/);
    expect(printed).not.toContain(secret);
  }
});
