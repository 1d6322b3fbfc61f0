import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '@platform/service-kit/testing';
import type { ReservedSql } from 'postgres';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { sync, type Copied, type ReadPage } from './sync.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ variables: { DATABASE_POOL: '12' } });
});
afterAll(() => service[Symbol.asyncDispose]());

const read: ReadPage<Copied & { name: string }> = async (query) =>
  (await service.read(`/projects?${query}`).expect(200)).body;

const connect = async () => {
  const sql = await service.context.database.sql.reserve();
  // A busy machine may take its time.
  await sql`set statement_timeout = 0`;
  const close = async (): Promise<void> => {
    // A test that failed leaves its transaction open.
    await sql`rollback`;
    await sql`reset statement_timeout`;
    sql.release();
  };
  return Object.assign(sql, { [Symbol.asyncDispose]: close });
};

/** A project of a transaction that is still open. */
const insert = (sql: ReservedSql, updatedAt = 'next_updated_at()') =>
  sql.unsafe<[{ id: string; at: string }]>(`
    insert into projects select '${v7()}', 'x', 'draft', 'en', '{}', at, at from ${updatedAt} at
    returning id, updated_at::text as at`);

describe('next_updated_at()', () => {
  test('is needed: with the current time, a reader misses a change that commits late', async () => {
    await using late = await connect();
    await using early = await connect();
    await late`begin`;
    const [missed] = await insert(late, 'clock_timestamp()');
    await sleep(5);
    const [known] = await insert(early, 'clock_timestamp()');
    const before = await read('limit=200');
    await late`commit`;
    const { projects } = await read(`limit=200&modified_after=${before.projects.at(-1)?.updated_at}`);
    expect(projects.map(({ id }) => id)).toEqual([known.id]);
    expect(missed.id).not.toBe(known.id);
  });

  test('gives a later time to writers that waited for another, and the same time to all of them', async () => {
    await using first = await connect();
    await using second = await connect();
    await using third = await connect();
    await first`begin`;
    const [one] = await insert(first);
    await second`begin`;
    await third`begin`;
    const waiting = Promise.all([insert(second), insert(third)]);
    expect(await Promise.race([waiting, sleep(100, 'waits')])).toBe('waits');
    await first`commit`;
    const [[two], [three]] = await waiting;
    expect(two.at >= one.at).toBe(true);
    expect(three.at).toBe(two.at);

    // A reader sees one of the two before the other has committed, and finds the other from that time on.
    await third`commit`;
    const seen = (await read('limit=200')).projects.at(-1);
    expect(seen?.id).toBe(three.id);
    await second`commit`;
    const { projects } = await read(`limit=200&modified_after=${seen?.updated_at}`);
    expect(projects.map(({ id }) => id)).toEqual(expect.arrayContaining([two.id, three.id]));
  });

  test('keeps increasing after the clock of the database was set back', async () => {
    const ahead = Date.now() + 3_600_000;
    await service.context.database.sql`select setval('latest_updated_at', ${ahead})`;
    await using sql = await connect();
    const times: number[] = [];
    for (let n = 0; n < 5; n++) times.push(Date.parse((await insert(sql))[0].at));
    expect(times).toEqual([1, 2, 3, 4, 5].map((ms) => ahead + ms));
  });

  test('never gives one time to more projects than fit on a page, even if the clock was set back', async () => {
    const ahead = Date.now() + 3_600_000;
    await service.context.database.sql`select setval('latest_updated_at', ${ahead})`;
    const write = async () => {
      await using sql = await connect();
      for (let n = 0; n < 60; n++) await insert(sql);
    };
    await Promise.all(Array.from({ length: 8 }, write));
    const [most] = await service.context.database.sql<[{ n: number }]>`
      select count(*)::int as n from projects where updated_at >= to_timestamp(${ahead}::bigint / 1000.0)
      group by updated_at order by n desc limit 1`;
    expect(most.n).toBeLessThan(200);
    await service.context.database.sql`delete from projects`;
    await service.context.database.sql`select setval('latest_updated_at', ${Date.now()})`;
  });

  test('releases its lock when a transaction is rolled back', async () => {
    await using sql = await connect();
    await sql`begin`;
    await insert(sql);
    await sql`rollback`;
    await insert(sql);
    const [row] = await sql<[{ held: number }]>`
      select count(*)::int as held from pg_locks where locktype = 'advisory' and classid = 5
        and database = (select oid from pg_database where datname = current_database())`;
    expect(row.held).toBe(0);
  });

  test('lets a reader miss nothing while eight sessions write at random speed', async () => {
    const random = seededRandom();
    const writers = new AbortController();
    const ids: string[] = [];
    const write = async (): Promise<void> => {
      await using sql = await connect();
      for (let n = 0; n < 60; n++) {
        await sql`begin`;
        const known = ids[Math.floor(random() * ids.length)];
        if (known === undefined || n % 3 === 0) ids.push((await insert(sql))[0].id);
        else
          await sql`update projects set name = ${v7()}, updated_at = at from next_updated_at() as at where id = ${known}`;
        await sleep(random() * 8);
        await (random() < 0.2 ? sql`rollback` : sql`commit`);
      }
    };
    const copy = new Map<string, Copied>();
    const follow = async (): Promise<void> => {
      let seen: string | undefined;
      while (!writers.signal.aborted) seen = await sync(read, copy, seen, 200);
      await sync(read, copy, seen, 200);
    };
    const following = follow();
    await Promise.all(Array.from({ length: 8 }, write));
    writers.abort();
    await following;
    const rows = new Map<string, Copied>();
    await sync(read, rows, undefined, 200);
    expect(rows.size).toBeGreaterThan(50);
    for (const [id, row] of rows) expect(copy.get(id)).toEqual(row);
  });
});
