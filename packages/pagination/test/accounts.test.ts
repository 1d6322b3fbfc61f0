import { seededRandom } from '@platform/service-kit/testing';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  countPendingChanges,
  defineDirectory,
  fold,
  installSql,
  measureDrift,
  mergeBuckets,
  pageSettings,
  readPage,
  rebuild,
  uninstallSql,
} from '../src/directory/index.ts';
import { createLists, type TestLists } from './database.ts';
import { inSnapshot } from './same-as-offset.ts';

/** The table of pgbench: a table with a foreign schema. */
const accounts = defineDirectory({
  table: 'pgbench_accounts',
  key: ['aid'],
  filters: { bid: 'integer' },
  bucket: 100,
});
const rows = 20_000;

let lists: TestLists;
let sql: Sql;
beforeAll(async () => {
  lists = await createLists(`
    create table pgbench_accounts (aid integer not null primary key, bid integer, abalance integer, filler char(84));
    create index on pgbench_accounts (bid, aid);
    insert into pgbench_accounts select i, i / 5000, 0, '' from generate_series(1, ${rows}) i;`);
  ({ sql } = lists);
  await sql.unsafe(installSql(accounts));
  await rebuild(sql, accounts);
});
afterAll(() => lists[Symbol.asyncDispose]());

/** Compares one page of the directory with OFFSET and count(*) in the same snapshot. */
const expectSame = async (on: Sql, offset: number, bid?: number): Promise<void> => {
  const where = bid === undefined ? on`true` : on`bid = ${bid}`;
  const plain = await on<{ aid: number }[]>`
    select aid from pgbench_accounts where ${where} order by aid offset ${offset} limit 25`;
  const [count] = await on<[{ n: number }]>`select count(*)::int as n from pgbench_accounts where ${where}`;
  const page = await readPage<{ aid: number }>(on, accounts, {
    columns: 'item.aid',
    ...(bid === undefined ? {} : { filter: { column: 'bid', value: bid } }),
    offset: BigInt(offset),
    limit: 25,
  });
  expect(page).toEqual({ items: [...plain], total: count.n, hasMore: offset + 25 < count.n });
};

it('reads the pages that OFFSET and count(*) return while others write and fold', async () => {
  let writing = true;
  const random = seededRandom();
  const randomBelow = (most: number) => Math.floor(random() * most);
  const writers = [1, 2].map(async (writer) => {
    const on = lists.connect();
    for (let n = 0; n < 80; n++) {
      const aid = randomBelow(rows);
      const next = rows + 1 + n * 20 + writer * 10_000;
      await on`update pgbench_accounts set abalance = abalance + 1 where aid = ${aid}`;
      await on`update pgbench_accounts set bid = ${randomBelow(6)} where aid between ${aid} and ${aid + 5}`.catch(
        () => undefined,
      );
      await on`delete from pgbench_accounts where aid between ${aid} and ${aid + 8}`.catch(() => undefined);
      await on`insert into pgbench_accounts select i, ${randomBelow(6)}::int, 0, '' from generate_series(${next}::int, ${next + 15}::int) i`;
    }
  });
  const writersDone = Promise.all(writers).finally(() => (writing = false));
  const maintaining = (async () => {
    const on = lists.connect();
    while (writing) {
      await fold(on, accounts);
      await mergeBuckets(on, accounts);
    }
  })();
  const readers = [1, 2].map(async () => {
    const on = lists.connect(`${lists.url}?plan_cache_mode=${pageSettings.plan_cache_mode}`);
    while (writing) {
      await inSnapshot(on, async (snapshot) => {
        await expectSame(snapshot, randomBelow(rows + 1000));
        await expectSame(snapshot, randomBelow(5500), randomBelow(6));
      });
    }
  });
  await Promise.all([writersDone, maintaining, ...readers]);
  await fold(sql, accounts);
  expect([await countPendingChanges(sql, accounts), await measureDrift(sql, accounts)]).toEqual([0, 0]);
});

it('leaves no objects behind when it is uninstalled', async () => {
  const objects = () => sql`
    select oid::regclass::text from pg_class union select oid::regprocedure::text from pg_proc
    union select tgname from pg_trigger union select oid::regtype::text from pg_type`;
  await sql.unsafe(uninstallSql(accounts));
  expect(JSON.stringify(await objects())).not.toContain('directory');
});
