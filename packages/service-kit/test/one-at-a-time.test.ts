import { expect, inject, test } from 'vitest';
import { oneAtATime } from '../src/overload/one-at-a-time.ts';
import { openDatabase } from '../src/database/database.ts';
import { withLocked } from '../src/records/versions.ts';
import { cloneDatabase } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

test('many changes that wait for the lock of one record leave connections to other requests', async () => {
  await using cloned = await cloneDatabase(inject('postgresUrl'), migrations);
  // Work outside requests may use half of the connections.
  await using database = openDatabase({ url: cloned.url, name: 'changes', max: 4 });
  const { sql } = database;
  await sql`insert into notes (id, words) values ('a', '')`;
  await using other = openDatabase({ url: cloned.url, name: 'lock', max: 1 });
  const isLocked = Promise.withResolvers<void>();
  const unlock = Promise.withResolvers<void>();
  const lock = other.sql.begin(async (tx) => {
    await tx`select from notes where id = 'a' for update`;
    isLocked.resolve();
    await unlock.promise;
  });
  await isLocked.promise;
  const note = { name: 'note', params: { id: 'a' }, caller: 'ann', expected: undefined, version: () => '1' };
  const changes = Array.from({ length: 20 }, (_, change) =>
    withLocked(
      sql,
      {
        ...note,
        find: async (tx) => {
          const [row] = await tx<{ id: string }[]>`select id from notes where id = 'a' for update`;
          return row?.id;
        },
      },
      async (tx) => {
        await tx`update notes set words = words || ${String.fromCodePoint(97 + change)} where id = 'a'`;
      },
    ),
  );
  expect(await sql`select 1 as answer`).toEqual([{ answer: 1 }]);
  unlock.resolve();
  await Promise.all([lock, ...changes]);
  expect(await sql`select words from notes`).toEqual([{ words: 'abcdefghijklmnopqrst' }]);
});

test('up to a hundred changes of a caller wait, other callers are not refused, and a failed change does not stop the next', async () => {
  const database = {};
  const turn = { name: 'note', params: { id: 'a' }, caller: 'ann' };
  const first = Promise.withResolvers<string>();
  const work = [
    () => first.promise,
    () => Promise.reject(new Error('failed')),
    ...Array.from({ length: 99 }, (_, at) => () => Promise.resolve(`${at}`)),
  ];
  const all = Promise.allSettled(work.map((change) => oneAtATime(database, turn, change)));
  await expect(oneAtATime(database, turn, async () => 'too many')).rejects.toMatchObject({
    code: 'too_busy',
  });
  expect(await oneAtATime(database, { ...turn, caller: 'bob' }, async () => 'other')).toBe('other');
  first.resolve('first');
  const results = await all;
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    ...Array.from({ length: 99 }, () => 'fulfilled'),
  ]);
  expect(await oneAtATime(database, turn, async () => 'again')).toBe('again');
});
