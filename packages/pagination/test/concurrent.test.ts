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
const anyOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
const randomBelow = (most: number): number => Math.floor(random() * most);

/** Ignores errors of writers that block each other: such a statement has changed nothing. */
const ignoreConflict = (error: unknown): void => {
  if (!['55P03', '40001', '40P01', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
};

const write = async (sql: Sql, table: string): Promise<void> => {
  await sql
    .begin(async (transaction) => {
      for (let statement = 0; statement < 1 + randomBelow(3); statement++) {
        await anyOf([
          () => transaction`
            insert into ${sql(table)} select gen_random_uuid(), now() + i * interval '1 ms', ${anyOf(owners)}::uuid,
              ${anyOf(kinds)}::int from generate_series(1, ${randomBelow(30)}::int) i`,
          () => transaction`
            update ${sql(table)} set changed_at = now(), kind = ${anyOf(kinds)}
            where id in (select id from ${sql(table)} offset ${randomBelow(50)} limit ${randomBelow(20)})`,
          () => transaction`
            delete from ${sql(table)} where id in (select id from ${sql(table)} offset ${randomBelow(50)} limit ${randomBelow(25)})`,
        ])();
      }
      if (random() < 0.2) throw Object.assign(new Error('rolled back on purpose'), { code: '40001' });
    })
    .catch(ignoreConflict);
};

it.each(directories)(
  'stays exact while sessions write, fold, merge and rebuild $name at once',
  async (directory) => {
    const { name: table } = directory;
    let writing = true;
    const repeatWhileWriting = async (work: (sql: Sql) => PromiseLike<unknown>): Promise<void> => {
      const sql = lists.connect();
      while (writing) await work(sql);
    };
    const maintenance = [fold, fold, mergeBuckets, rebuild].map((work) =>
      repeatWhileWriting((sql) => Promise.resolve(work(sql, directory)).catch(ignoreConflict)),
    );
    const readers = [1, 2].map(() =>
      repeatWhileWriting((sql) =>
        inSnapshot(sql, async (snapshot) => {
          const filter = anyOf([
            undefined,
            { column: 'owner', value: anyOf(owners) },
            { column: 'kind', value: anyOf(kinds) },
          ]);
          await expectSame(snapshot, directory, {
            offset: randomBelow(300),
            limit: 1 + randomBelow(40),
            ...(filter ? { filter } : {}),
            ...(random() < 0.3 ? { since: new Date(Date.now() - randomBelow(1000)).toISOString() } : {}),
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
