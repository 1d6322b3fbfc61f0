import type { Sql } from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  countPendingChanges,
  fold,
  installSql,
  measureDrift,
  mergeBuckets,
  readPage,
  rebuild,
  uninstallSql,
} from '../src/directory/index.ts';
import { createLists, asTransaction, type TestLists } from './database.ts';
import { listsSql, owners, risingDirectory as list } from './lists.ts';
import { expectAllSame, inSnapshot } from './same-as-offset.ts';

let lists: TestLists;
let sql: Sql;
beforeAll(async () => {
  lists = await createLists(listsSql);
  ({ sql } = lists);
});
afterAll(() => lists[Symbol.asyncDispose]());
beforeEach(() => sql`truncate rising`);

const insert = (on: Sql, count: number, from = 0) => on`
  insert into rising select gen_random_uuid(), '2024-01-01'::timestamptz + (${from}::int + i) * interval '1 ms',
    ${owners[0] ?? ''}::uuid, i % 3 from generate_series(1, ${count}::int) i`;
const buckets = async (filter = ''): Promise<number[]> =>
  (
    await sql<{ n: number }[]>`
      select n from rising_directory_buckets where filter = ${filter} order by changed_at, id`
  ).map(({ n }) => n);
const expectExact = () => inSnapshot(sql, (snapshot) => expectAllSame(snapshot, list));
const total = async (): Promise<number> => (await readPage(sql, list, { offset: 0n, limit: 1 })).total;

describe('folding', () => {
  it('leaves no change behind and no bucket of more than twice its size', async () => {
    await insert(sql, 500);
    expect(await countPendingChanges(sql, list)).toBe(500);
    expect(await fold(sql, list)).toBe(500);
    expect(await countPendingChanges(sql, list)).toBe(0);
    expect(Math.max(...(await buckets()))).toBeLessThanOrEqual(2 * list.bucket);
    expect((await buckets()).reduce((sum, n) => sum + n, 0)).toBe(500);
    await expectExact();
  });

  it('is skipped while another session folds', async () => {
    await insert(sql, 20);
    const other = lists.connect();
    await other`begin`;
    await other`select from rising_directory_state for update`;
    expect(await fold(sql, list)).toBeUndefined();
    await expectExact();
    await other`rollback`;
    expect(await fold(sql, list)).toBe(20);
  });

  it('uses no transaction id if there is nothing to fold', async () => {
    const [row] = await sql.begin(async (transaction) => {
      await fold(transaction, list);
      return transaction`select pg_current_xact_id_if_assigned()::text as id`;
    });
    expect(row).toEqual({ id: null });
  });

  it('counts what a transaction with an older id commits later', async () => {
    const slow = lists.connect();
    await slow`begin`;
    await insert(slow, 7);
    await insert(sql, 20, 100);
    expect(await fold(sql, list)).toBe(20);
    await slow`commit`;
    expect(await total()).toBe(27);
    await expectExact();
    expect(await fold(sql, list)).toBe(7);
    await expectExact();
  });

  it('counts changes correctly after a rebuild that started buckets at keys that were not counted yet', async () => {
    await insert(sql, 30);
    await rebuild(sql, list);
    // The state as if the rows had been committed after the rebuild had stored the last key.
    await sql`update rising_directory_state set changed_at = '2024-01-01', id = '00000000-0000-0000-0000-000000000000'`;
    await insert(sql, 3, -1);
    expect(await fold(sql, list)).toBe(33);
    await expectExact();
  });

  it('counts changes correctly after a rebuild that waited for the fold of another session', async () => {
    await insert(sql, 1);
    await fold(sql, list);
    const other = lists.connect();
    await other`begin`;
    await insert(other, 26, 100);
    await fold(asTransaction(other), list);
    const waitingSession = lists.connect();
    await waitingSession`set lock_timeout = 0`;
    const rebuilding = rebuild(waitingSession, list);
    const waiting = () => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(waiting).not.toHaveLength(0);
    await other`commit`;
    await rebuilding;
    // Between rows of the last bucket, which is full.
    for (let n = 0; n < 8; n++) await insert(sql, 2, 124);
    await fold(sql, list);
    await expectExact();
  });

  it('starts new buckets at the end of the list without counting rows again', async () => {
    for (let from = 0; from < 60; from += 6) {
      await insert(sql, 6, from);
      await fold(sql, list);
    }
    expect(await buckets()).toEqual(Array.from({ length: 10 }, () => 6));
    await expectExact();
  });

  it('leaves no changes for pages to add up, although a write transaction stays open', async () => {
    const elsewhere = lists.connect();
    await elsewhere`begin`;
    await elsewhere`select pg_current_xact_id()`;
    await insert(sql, 300);
    await fold(sql, list);
    const [plan] = await sql`
      explain (analyze, costs off, timing off, summary off, format json)
      select from rising_directory_changes where xid >= (select folded_below from rising_directory_state)`;
    const read = JSON.stringify(plan).match(/"(?:Actual Rows|Rows Removed by [^"]+)":(\d+)/)?.[1];
    expect(Number(read)).toBe(0);
    expect(await countPendingChanges(sql, list)).toBe(0);
    // Its own change is not lost, because the state lists its transaction as running.
    await insert(elsewhere, 1, 500);
    await insert(sql, 1, 600);
    await fold(sql, list);
    await elsewhere`commit`;
    expect(await total()).toBe(302);
    await expectExact();
  });

  it('fails in sessions whose snapshot is older than a merge', async () => {
    await insert(sql, 60);
    await fold(sql, list);
    await sql`delete from rising where kind <> 0`;
    await fold(sql, list);
    const old = Array.from({ length: 12 }, () => lists.connect());
    for (const [place, session] of old.entries()) {
      await session`begin isolation level repeatable read`;
      await insert(session, 1, 5 * place);
    }
    await mergeBuckets(sql, list);
    for (const session of old) {
      await expect(session`select from rising_directory_state for update`).rejects.toMatchObject({
        code: '40001',
      });
      await session`rollback`;
    }
    await expectExact();
  });

  it('loses nothing in a dump that is restored into a cluster with lower transaction ids', async () => {
    await insert(sql, 20);
    await fold(sql, list);
    await sql`update rising_directory_state set folded_below = '1000000000000'`;
    await insert(sql, 5, 50);
    expect(await total()).toBe(25);
    await expectExact();
    expect(await fold(sql, list)).toBe(5);
    await insert(sql, 3, 70);
    expect(await total()).toBe(28);
    await expectExact();
    await sql`update rising_directory_state set folded_below = '0'`;
    await rebuild(sql, list);
  });

  it('works in a database that publishes all tables for logical replication', async () => {
    await sql`create publication everything for all tables`;
    await insert(sql, 20);
    expect(await fold(sql, list)).toBe(20);
    await sql`delete from rising where kind = 0`;
    expect(await fold(sql, list)).toBe(6);
    await mergeBuckets(sql, list);
    await rebuild(sql, list);
    await expectExact();
    await sql`drop publication everything`;
  });
});

describe('writers', () => {
  it('do not wait for each other at the same end of the list, nor for a fold', async () => {
    const [first, second, folding] = [lists.connect(), lists.connect(), lists.connect()];
    await first`begin`;
    await insert(first, 5);
    await folding`begin`;
    await folding`select from rising_directory_state for update`;
    await second`begin`;
    await insert(second, 5);
    await insert(sql, 5);
    await second`commit`;
    await first`commit`;
    await folding`rollback`;
    expect(await total()).toBe(15);
  });

  it('record nothing for an update that keeps key and filters', async () => {
    await insert(sql, 10);
    await fold(sql, list);
    await sql`update rising set kind = kind, note = 'seen'`;
    expect(await countPendingChanges(sql, list)).toBe(0);
  });

  it('truncate while others read and fold, without deadlocks', async () => {
    let truncating = true;
    const during = async (work: (on: Sql) => Promise<unknown>) => {
      while (truncating) {
        // A new connection each time, so that the statement is parsed and planned as well.
        const on = lists.connect();
        await on`set lock_timeout = 0`;
        for (let n = 0; n < 5 && truncating; n++) await work(on);
        await on.end();
      }
    };
    const filter = { column: 'kind', value: 1 };
    const others = [
      during((on) => readPage(on, list, { offset: 3n, limit: 2 })),
      during((on) => readPage(on, list, { filter, since: '2024-01-01', offset: 3n, limit: 2 })),
      during((on) => fold(on, list)),
    ];
    const truncate = async () => {
      for (let n = 0; n < 60; n++) {
        await insert(sql, 10);
        await sql`set lock_timeout = 0`;
        await sql`truncate rising`;
      }
    };
    await truncate().finally(() => (truncating = false));
    await Promise.all(others);
    await sql`set lock_timeout = 30`;
    expect(await total()).toBe(0);
  });
});

describe('merging', () => {
  it('merges buckets that deletions have left small and removes values without rows', async () => {
    await insert(sql, 300);
    await fold(sql, list);
    const before = (await buckets()).length;
    await sql`delete from rising where kind <> 1 or changed_at > '2024-01-01T00:00:00.100Z'`;
    await fold(sql, list);
    await mergeBuckets(sql, list);
    expect((await buckets()).length).toBeLessThan(before / 3);
    expect(await buckets('kind')).not.toContain(0);
    await expectExact();
    await sql`delete from rising`;
    await fold(sql, list);
    await mergeBuckets(sql, list);
    expect(await sql`select from rising_directory_buckets`).toHaveLength(0);
    await expectExact();
  });
});

describe('drift', () => {
  it('counts rows that bypassed the triggers, and a rebuild repairs it', async () => {
    await insert(sql, 30);
    await fold(sql, list);
    await insert(sql, 5, 40);
    expect(await measureDrift(sql, list)).toBe(0);
    await sql`alter table rising disable trigger user`;
    await sql`delete from rising where changed_at <= '2024-01-01T00:00:00.004Z'`;
    await sql`alter table rising enable trigger user`;
    // Once in the whole list, once by owner, once by kind.
    expect(await measureDrift(sql, list)).toBe(4 * 3);
    await rebuild(sql, list);
    expect(await measureDrift(sql, list)).toBe(0);
    await expectExact();
  });
});

describe('installing', () => {
  it('can be undone completely, and repeated on a list that has rows', async () => {
    const objects = () => sql<{ name: string }[]>`
      select oid::regclass::text as name from pg_class union select oid::regprocedure::text from pg_proc
      union select tgname from pg_trigger`;
    await insert(sql, 40);
    await sql.unsafe(uninstallSql(list));
    expect((await objects()).filter(({ name }) => name.includes('rising_directory'))).toEqual([]);
    await sql.unsafe(installSql(list));
    await rebuild(sql, list);
    await expectExact();
  });

  it('serves a role that may only read and write rows', async () => {
    const role = `run_${Date.now()}`;
    await sql.unsafe(`create role ${role} login password 'run'; grant usage on schema tested to ${role};
      grant select, insert, update, delete on all tables in schema tested to ${role}`);
    const url = new URL(lists.url);
    url.username = role;
    url.password = 'run';
    const asRole = lists.connect(url.href);
    await insert(asRole, 30);
    expect(await fold(asRole, list)).toBe(30);
    await mergeBuckets(asRole, list);
    await rebuild(asRole, list);
    expect(await measureDrift(asRole, list)).toBe(0);
    expect((await readPage(asRole, list, { offset: 3n, limit: 2 })).total).toBe(30);
    await expect(asRole`truncate rising`).rejects.toMatchObject({ code: '42501' });
    await asRole.end();
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  });
});
