import { seededRandom } from '@platform/service-kit/testing';
import type { Sql } from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { countPendingChanges, fold, mergeBuckets, rebuild } from '../src/directory/index.ts';
import { createLists, type TestLists } from './database.ts';
import { directories, kinds, listsSql, owners } from './lists.ts';
import { expectAllSame, expectSame, inSnapshot } from './same-as-offset.ts';

let lists: TestLists;
beforeAll(async () => {
  lists = await createLists(listsSql);
});
afterAll(() => lists[Symbol.asyncDispose]());

const random = seededRandom();
const any = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const upTo = (most: number): number => Math.floor(random() * most);

/** Writers block each other here; a statement that fails with one of these codes has changed nothing. */
const tolerate = (error: unknown): void => {
  if (!['55P03', '40001', '40P01', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
};

const write = async (sql: Sql, table: string): Promise<void> => {
  await sql
    .begin(async (transaction) => {
      for (let statement = 0; statement < 1 + upTo(3); statement++) {
        await any([
          () => transaction`
            insert into ${sql(table)} select gen_random_uuid(), now() + i * interval '1 ms', ${any(owners)}::uuid,
              ${any(kinds)}::int from generate_series(1, ${upTo(30)}::int) i`,
          () => transaction`
            update ${sql(table)} set changed_at = now(), kind = ${any(kinds)}
            where id in (select id from ${sql(table)} offset ${upTo(50)} limit ${upTo(20)})`,
          () => transaction`
            delete from ${sql(table)} where id in (select id from ${sql(table)} offset ${upTo(50)} limit ${upTo(25)})`,
        ])();
      }
      if (random() < 0.2) throw Object.assign(new Error('rolled back on purpose'), { code: '40001' });
    })
    .catch(tolerate);
};

it.each(directories)(
  'stays exact while sessions write, fold, merge and rebuild $name at once',
  async (directory) => {
    const { name: table } = directory;
    let writing = true;
    const during = async (work: (sql: Sql) => PromiseLike<unknown>): Promise<void> => {
      const sql = lists.connect();
      while (writing) await work(sql);
    };
    const maintenance = [fold, fold, mergeBuckets, rebuild].map((work) =>
      during((sql) => Promise.resolve(work(sql, directory)).catch(tolerate)),
    );
    const readers = [1, 2].map(() =>
      during((sql) =>
        inSnapshot(sql, async (snapshot) => {
          const filter = any([
            undefined,
            { column: 'owner', value: any(owners) },
            { column: 'kind', value: any(kinds) },
          ]);
          await expectSame(snapshot, directory, {
            offset: upTo(300),
            limit: 1 + upTo(40),
            ...(filter ? { filter } : {}),
            ...(random() < 0.3 ? { since: new Date(Date.now() - upTo(1000)).toISOString() } : {}),
          });
        }),
      ),
    );
    const writers = [1, 2, 3, 4].map(async () => {
      const sql = lists.connect();
      for (let round = 0; round < 100; round++) await write(sql, table);
    });
    await Promise.all(writers).finally(() => (writing = false));
    await Promise.all([...maintenance, ...readers]);

    await fold(lists.sql, directory);
    await inSnapshot(lists.sql, (sql) => expectAllSame(sql, directory));
    expect(await countPendingChanges(lists.sql, directory)).toBe(0);
  },
);
