import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { toProblem } from '../src/http/problem.ts';
import { openDatabase, type Database } from '../src/database/database.ts';
import { describeError } from '../src/process/safe-error.ts';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

let url: string;
let database: Database;
beforeAll(async () => {
  ({ url } = stack.use(await cloneDatabase(inject('postgresUrl'), migrations)));
  database = stack.use(openDatabase({ url, name: 'transactions', refuseInTransactions: true }));
});

/** Runs a transaction that fails with `code` in its first `failures` attempts. Returns the number of attempts. */
const runFailing = async (code: string, failures: number): Promise<number> => {
  let attempts = 0;
  await database.sql.begin(async (tx) => {
    attempts += 1;
    await tx`insert into notes (id, words) values ('tried', 'x')`;
    if (attempts <= failures) await tx.unsafe(`do $$ begin raise sqlstate '${code}'; end $$`);
  });
  return attempts;
};

beforeEach(async () => void (await database.sql`delete from notes`));

test.each(['40001', '40P01'])(
  'a transaction that failed with %s is run again, and commits once',
  async (code) => {
    expect(await runFailing(code, 2)).toBe(3);
    expect(await database.sql`select id from notes`).toEqual([{ id: 'tried' }]);
  },
);

test('a transaction that fails three times is answered with 503 and changes nothing', async () => {
  const error = await runFailing('40001', 3).catch((reason: unknown) => reason);
  expect(toProblem(error)).toMatchObject({ status: 503, code: 'write_conflict' });
  expect(await database.sql`select id from notes`).toEqual([]);
});

test('a transaction that failed for another reason is not run again', async () => {
  for (const code of ['23505', '40003', '57014'])
    await expect(runFailing(code, 1)).rejects.toMatchObject({ code });
});

test('two transactions that lock the same rows in different order both commit', async () => {
  const { orm, sql } = database;
  await sql`insert into notes (id, words) values ('a', ''), ('b', '')`;
  const both = Promise.withResolvers<void>();
  let locked = 0;
  const add = async (ids: [string, string]) =>
    orm.transaction(async (tx) => {
      for (const id of ids) {
        await tx.execute(`update notes set words = words || 'x' where id = '${id}'`);
        if (++locked === 2) both.resolve();
        await both.promise;
      }
    });
  await Promise.all([add(['a', 'b']), add(['b', 'a'])]);
  expect(await sql`select words from notes`).toEqual([{ words: 'xx' }, { words: 'xx' }]);
});

test('a statement or transaction on the pool inside a transaction is refused, and allowed after it', async () => {
  const { sql, orm } = database;
  const nested = [
    sql.begin(async () => sql`select 1`),
    sql.begin(async () => sql.begin(async (tx) => tx`select 1`)),
    orm.transaction(async () => orm.execute('select 1')),
  ];
  const errors = nested.map((refused) => refused.catch((reason: unknown) => reason as Error));
  for (const error of await Promise.all(errors)) {
    expect(JSON.stringify(describeError(error))).toContain('run the statement on the transaction');
  }
  const ended = Promise.withResolvers<void>();
  let later: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    later = ended.promise.then(() => sql`select 1 as one`);
    await tx.savepoint((saved) => saved`select 1`);
  });
  ended.resolve();
  expect(await later).toEqual([{ one: 1 }]);
});

test('in production a statement on the pool inside a transaction only waits', async () => {
  // Background work uses half of them.
  await using production = openDatabase({ url, name: 'production', max: 4 });
  expect(await production.sql.begin(async () => production.sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test('a connection that another program refuses is not an error of the database', async () => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  expect(toProblem(refused)).toMatchObject({ status: 500, code: 'internal_error' });
  const unreachable = new URL(url);
  unreachable.port = '1';
  const sql = postgres(unreachable.href, { max: 1, connect_timeout: 1, backoff: false });
  const errors = [sql`select 1`, sql.begin((tx) => tx`select 1`)].map((work) =>
    work.catch((error: unknown) => error),
  );
  for (const error of await Promise.all(errors))
    expect(toProblem(error)).toMatchObject({ status: 503, code: 'database_unavailable' });
  await sql.end();
});
