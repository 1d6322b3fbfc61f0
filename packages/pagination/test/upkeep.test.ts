import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Sql } from 'postgres';
import { readPage } from '../src/directory/read.ts';
import { directorySql } from '../src/directory/sql.ts';
import {
  countUnfolded,
  foldChanges,
  measureDrift,
  rebuildDirectory,
  thinBuckets,
} from '../src/directory/upkeep.ts';
import { migrated, type TestGround } from './database.ts';
import { listsSql, owners, risingDirectory as list } from './lists.ts';
import { expectAllSame, inSnapshot } from './same-as-offset.ts';

let ground: TestGround;
let sql: Sql;
beforeAll(async () => {
  ground = await migrated(listsSql);
  ({ sql } = ground);
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => sql`truncate rising`);

const insert = (on: Sql, count: number, from = 0) => on`
  insert into rising select gen_random_uuid(), '2024-01-01'::timestamptz + (${from}::int + i) * interval '1 ms',
    ${owners[0] ?? ''}::uuid, i % 3 from generate_series(1, ${count}::int) i`;
const buckets = async (filter = 'all'): Promise<number[]> =>
  (
    await sql<
      { n: number }[]
    >`select n from rising_directory where filter = ${filter} order by low_at, low_id`
  ).map(({ n }) => n);
const exact = () => inSnapshot(sql, (snapshot) => expectAllSame(snapshot, list));
const total = async (): Promise<number> => (await readPage(sql, list, { offset: 0n, limit: 1 })).total;

describe('folding', () => {
  it('leaves no change behind and no bucket overfull', async () => {
    await insert(sql, 500);
    expect(await countUnfolded(sql, list)).toBe(500);
    expect(await foldChanges(sql, list)).toBe(500);
    expect(await countUnfolded(sql, list)).toBe(0);
    expect(Math.max(...(await buckets()))).toBeLessThanOrEqual(2 * list.bucket);
    expect((await buckets()).reduce((sum, n) => sum + n, 0)).toBe(500);
    await exact();
  });

  it('is skipped, not waited for, while another session folds', async () => {
    await insert(sql, 20);
    const other = ground.connect();
    await other`begin`;
    await other`select rising_directory_fold()`;
    expect(await foldChanges(sql, list)).toBe(0);
    await exact();
    await other`rollback`;
    expect(await foldChanges(sql, list)).toBe(20);
  });

  it('costs no transaction id where there is nothing to fold', async () => {
    await sql`begin`;
    await sql`select rising_directory_fold()`;
    const [row] = await sql`select pg_current_xact_id_if_assigned() as xid`;
    await sql`commit`;
    expect(row?.['xid']).toBeNull();
  });

  it('keeps what a transaction with an older id commits later', async () => {
    const slow = ground.connect();
    await slow`begin`;
    await insert(slow, 7);
    await insert(sql, 20, 100);
    expect(await foldChanges(sql, list)).toBe(20);
    await slow`commit`;
    expect(await total()).toBe(27);
    await exact();
    expect(await foldChanges(sql, list)).toBe(7);
    await exact();
  });

  it('fails in sessions that still see the buckets as they were before a thinning', async () => {
    await insert(sql, 60);
    await foldChanges(sql, list);
    await sql`delete from rising where kind <> 0`;
    await foldChanges(sql, list);
    const old = Array.from({ length: 12 }, () => ground.connect());
    for (const [place, session] of old.entries()) {
      await session`begin isolation level repeatable read`;
      await insert(session, 1, 5 * place);
    }
    await thinBuckets(sql, list);
    for (const session of old) {
      await expect(session`select rising_directory_fold()`).rejects.toMatchObject({ code: '40001' });
      await session`rollback`;
    }
    await exact();
  });

  it('loses nothing in a dump that was restored where transaction ids begin anew', async () => {
    await insert(sql, 20);
    await foldChanges(sql, list);
    await sql`update rising_directory_state set folded_to = '1000000000000'`;
    await insert(sql, 5, 50);
    expect(await total()).toBe(25);
    await exact();
    expect(await foldChanges(sql, list)).toBe(5);
    await insert(sql, 3, 70);
    expect(await total()).toBe(28);
    await exact();
  });
});

describe('writers', () => {
  it('do not wait for each other at the same place of the list, nor for a fold', async () => {
    const [one, two] = [ground.connect(), ground.connect()];
    await one`begin`;
    await insert(one, 5);
    await two`begin`;
    await insert(two, 5);
    await two`select rising_directory_fold()`;
    await insert(sql, 5);
    await two`commit`;
    await one`commit`;
    expect(await total()).toBe(15);
  });

  it('record nothing for an update that moves no row, and both marks for one of a watched column', async () => {
    await insert(sql, 10);
    await foldChanges(sql, list);
    await sql`update rising set kind = kind, changed_at = changed_at`;
    expect(await countUnfolded(sql, list)).toBe(0);
    await sql`update rising set note = 'seen' where kind = 0`;
    expect(await countUnfolded(sql, list)).toBe(6);
  });
});

describe('thinning', () => {
  it('joins what deletions leave of the buckets and forgets values without rows', async () => {
    await insert(sql, 300);
    await foldChanges(sql, list);
    const before = (await buckets()).length;
    await sql`delete from rising where kind <> 1 or changed_at > '2024-01-01T00:00:00.100Z'`;
    await foldChanges(sql, list);
    await thinBuckets(sql, list);
    expect((await buckets()).length).toBeLessThan(before / 3);
    expect(await buckets('by_kind')).not.toContain(0);
    await exact();
    await sql`delete from rising`;
    await foldChanges(sql, list);
    await thinBuckets(sql, list);
    expect(
      await sql`select from rising_directory union all select from rising_directory_shelves`,
    ).toHaveLength(0);
    await exact();
  });
});

describe('drift', () => {
  it('shows rows that came and went behind the triggers, and a rebuild mends it', async () => {
    await insert(sql, 30);
    await foldChanges(sql, list);
    await insert(sql, 5, 40);
    expect(await measureDrift(sql, list)).toBe(0);
    await sql`alter table rising disable trigger user`;
    await sql`delete from rising where changed_at <= '2024-01-01T00:00:00.004Z'`;
    await sql`alter table rising enable trigger user`;
    expect(await measureDrift(sql, list)).toBe(4 * 3);
    await rebuildDirectory(sql, list);
    expect(await measureDrift(sql, list)).toBe(0);
    expect(await countUnfolded(sql, list)).toBe(0);
    await exact();
  });

  it('shows a shelf that is not the sum of its buckets', async () => {
    await insert(sql, 30);
    await foldChanges(sql, list);
    await sql`update rising_directory_shelves set n = n + 1 where filter = 'all'
      and low_at = (select max(low_at) from rising_directory_shelves where filter = 'all')`;
    expect(await measureDrift(sql, list)).toBe(1);
    await rebuildDirectory(sql, list);
  });
});

describe('the migration', () => {
  it('replaces an older directory and counts the rows that are there', async () => {
    await insert(sql, 40);
    const fewer = { ...list, filters: list.filters.slice(0, 1), bucket: 5 };
    await sql.begin((transaction) => transaction.unsafe(directorySql(fewer)));
    expect(await measureDrift(sql, fewer)).toBe(0);
    await sql.begin((transaction) => transaction.unsafe(directorySql(list)));
    await exact();
  });

  it('goes on answering instances of the version before, which run until the rollout has ended', async () => {
    await insert(sql, 40);
    const ids = (await sql<{ id: string }[]>`select id from rising order by changed_at, id`).map(
      ({ id }) => id,
    );
    for (const [skip, take] of [
      [0, 7],
      [33, 10],
      [40, 10],
    ] as const) {
      const rows = await sql<{ id: string | null; total: string }[]>`
        select item.id, total from rising_directory_page_all(null, null, ${skip}, ${take}, true) page
        cross join lateral (select (page.given).*) item`;
      const wanted = skip === 40 ? [null] : ids.slice(skip, skip + take);
      expect(rows).toEqual(wanted.map((id) => ({ id, total: '40' })));
    }
  });

  it('works for a role that may only read and write rows', async () => {
    const role = `run_${Date.now()}`;
    await sql.unsafe(`create role ${role} login password 'run';
      grant select, insert, update, delete on all tables in schema public to ${role}`);
    const url = new URL(ground.url);
    url.username = role;
    url.password = 'run';
    const run = ground.connect(url.href);
    await insert(run, 30);
    expect(await foldChanges(run, list)).toBe(30);
    await thinBuckets(run, list);
    await rebuildDirectory(run, list);
    expect(await measureDrift(run, list)).toBe(0);
    expect((await readPage(run, list, { offset: 3n, limit: 2 })).total).toBe(30);
    await expect(run`truncate rising`).rejects.toMatchObject({ code: '42501' });
    await run.end();
    await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
  });
});
