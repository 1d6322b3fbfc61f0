import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deferredPage } from '../src/deferred.ts';
import { migrated, type TestGround } from './database.ts';
import { listsSql, owners } from './lists.ts';

let ground: TestGround;
let sql: Sql;
const owner = owners[0] ?? '';
beforeAll(async () => {
  ground = await migrated(listsSql);
  ({ sql } = ground);
  await sql`insert into rising select gen_random_uuid(), '2024-01-01'::timestamptz + i % 5 * interval '1 ms',
    (${owners}::uuid[])[1 + i % 3], nullif(i % 4, 0), i::text from generate_series(1, 100) i`;
});
afterAll(() => ground[Symbol.asyncDispose]());

const page = (offset: bigint, limit: number) =>
  deferredPage<{ id: string; note: string }>(sql, {
    table: 'rising',
    key: ['id'],
    where: sql`owner = ${owner}`,
    order: sql`kind desc nulls last, id`,
    offset,
    limit,
  });

it('gives the rows that OFFSET gives, in their order, with all their columns', async () => {
  const all = await sql`select * from rising where owner = ${owner} order by kind desc nulls last, id`;
  for (const offset of [0, 1, 17, 32, 33, 34, 1000]) {
    expect([...(await page(BigInt(offset), 10))]).toEqual(all.slice(offset, offset + 10));
  }
});

it('gives only the columns asked for, and nothing for a limit of 0', async () => {
  const [row] = await deferredPage<{ note: string }>(sql, {
    table: 'rising',
    key: ['id'],
    columns: ['note'],
    where: sql`owner = ${owner}`,
    order: sql`changed_at, id`,
    offset: 0n,
    limit: 1,
  });
  expect(Object.keys(row ?? {})).toEqual(['note']);
  expect(await page(0n, 0)).toHaveLength(0);
});
