import fc from 'fast-check';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CountCache } from '../src/directory/counted.ts';
import { readCounted, type CountedRequest } from '../src/directory/counted.ts';
import { foldChanges, rebuildDirectory } from '../src/directory/upkeep.ts';
import { migrated, type TestGround } from './database.ts';
import { step } from './history.ts';
import { fallingDirectory as list, kinds, listsSql, owners } from './lists.ts';

let ground: TestGround;
let sql: Sql;
/** Forgets nothing, unlike the real one: every stale count there ever was is still there. */
let kept: Map<string, string>;
let counts = 0;
const cache: CountCache = {
  get: async (key) => kept.get(key),
  set: async (key, value) => {
    counts++;
    kept.set(key, value);
  },
};

beforeAll(async () => {
  ground = await migrated(listsSql);
  ({ sql } = ground);
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(async () => {
  await sql`truncate falling`;
  kept = new Map();
  counts = 0;
});

const fill = (rows: number) => sql`
  insert into falling select gen_random_uuid(), '2024-01-01'::timestamptz + i % 7 * interval '1 ms',
    (${owners}::uuid[])[1 + i % 3], i % 2, case when i % 5 = 0 then 'fifth' else '' end
  from generate_series(1, ${rows}::int) i`;

const noted = (text: string) => ({ name: `note ${text}`, sql: sql`item.note = ${text}` });

const expectPlain = async (request: CountedRequest): Promise<void> => {
  const { filters, condition, offset, limit } = request;
  const all = await sql<{ id: string }[]>`
    select id from falling item
    where ${Object.entries(filters).reduce((where, [column, value]) => sql`${where} and ${sql(column)} = ${value}`, sql`true`)}
      and ${condition?.sql ?? sql`true`}
    order by changed_at desc, id desc`;
  const page = await readCounted<{ id: string }>(sql, cache, list, { ...request, columns: sql`item.id` });
  expect(page).toEqual({
    total: all.length,
    items: all.slice(Number(offset), Number(offset) + limit),
    hasMore: all.length > Number(offset) + limit,
  });
};

const both = { owner: owners[0] ?? '', kind: 1 };

describe('a page of two filters', () => {
  it('is what OFFSET and count(*) give, from either end and past it', async () => {
    await fill(90);
    for (const offset of [0n, 4n, 7n, 8n, 9n, 13n, 14n, 15n, 100n, 1_073_741_823_500n]) {
      await expectPlain({ filters: both, offset, limit: 4 });
    }
  });

  it('counts once, and again only when a row of the filter has changed', async () => {
    await fill(90);
    const request = { filters: both, offset: 0n, limit: 5 };
    for (let time = 0; time < 3; time++) await expectPlain(request);
    expect(counts).toBe(1);
    await foldChanges(sql, list);
    await expectPlain(request);
    await sql`update falling set kind = 2 where owner = ${owners[1] ?? ''}`;
    await expectPlain(request);
    expect(counts).toBe(1);
    await sql`delete from falling where id = (select id from falling where owner = ${both.owner} limit 1)`;
    await expectPlain(request);
    expect(counts).toBe(2);
  });

  it('sees changes of a watched column that a condition depends on', async () => {
    await fill(90);
    const request = { filters: {}, condition: noted('fifth'), offset: 0n, limit: 5 };
    await expectPlain(request);
    await sql`update falling set note = 'fifth' where kind = 0`;
    await expectPlain(request);
    await sql`update falling set note = ''`;
    await expectPlain(request);
    expect(counts).toBe(3);
  });

  it('never takes an old count for a new one: emptied and filled alike, rebuilt, rolled back', async () => {
    const request = { filters: both, offset: 0n, limit: 5 };
    for (const rows of [90, 60, 90]) {
      await sql`truncate falling`;
      await fill(rows);
      await expectPlain(request);
    }
    await rebuildDirectory(sql, list);
    await sql`begin`;
    await fill(30);
    await expectPlain(request);
    await sql`rollback`;
    await expectPlain(request);
  });

  it.each([
    '',
    ':',
    'x:y',
    '1:',
    ':5',
    '1:-5',
    "1:5'; drop table falling",
    '99999999999999999999999:3',
    'null:3',
  ])('is not misled by %j in the cache', async (garbage) => {
    await fill(30);
    const request = { filters: both, offset: 0n, limit: 5 };
    await expectPlain(request);
    for (const key of kept.keys()) kept.set(key, garbage);
    await expectPlain(request);
  });

  it('counts every time while the cache is away', async () => {
    await fill(30);
    const away: CountCache = { get: async () => undefined, set: async () => undefined };
    for (let time = 0; time < 2; time++) {
      const page = await readCounted(sql, away, list, { filters: both, offset: 0n, limit: 2 });
      expect(page.total).toBe(5);
    }
  });

  it('refuses a filter that the directory does not have', async () => {
    const request = { filters: { note: 'x' }, offset: 0n, limit: 1 };
    await expect(readCounted(sql, cache, list, request)).rejects.toThrow('falling has no filter note');
  });
});

it('gives what OFFSET and count(*) give after any step, with every count ever kept still there', async () => {
  const request = fc.record({
    owner: fc.constantFrom(...owners),
    kind: fc.constantFrom(...kinds),
    offset: fc.bigInt({ min: 0n, max: 30n }),
    limit: fc.integer({ min: 1, max: 9 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, request), { minLength: 5, maxLength: 30 }), async (steps) => {
      for (const [{ act }, { owner, kind, offset, limit }] of steps) {
        await act.run(sql, list).then(
          () => undefined,
          () => undefined,
        );
        await sql`commit`;
        await expectPlain({ filters: { owner, kind }, offset, limit });
        await expectPlain({ filters: { kind }, condition: noted('.'), offset, limit });
      }
    }),
    { numRuns: 30 },
  );
});
