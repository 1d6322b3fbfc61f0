import type { Sql, TransactionSql } from 'postgres';
import { expect } from 'vitest';
import {
  measureDrift,
  readPage,
  readSlice,
  type Directory,
  type FilterValue,
} from '../src/directory/index.ts';
import { kinds, owners } from './lists.ts';

export interface Question {
  filter?: { column: string; value: FilterValue };
  since?: string;
  offset: number;
  limit: number;
}

/** The ids that plain SQL gives in the order of the list, all of them. */
const plain = async (sql: Sql, directory: Directory, { filter, since }: Question): Promise<string[]> => {
  const side = directory.descending ? sql`desc` : sql`asc`;
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(directory.name)}
    where ${filter ? sql`${sql(filter.column)} = ${filter.value}` : sql`true`}
      and ${since === undefined ? sql`true` : sql`changed_at >= ${since}`}
    order by changed_at ${side}, id ${side}`;
  return rows.map(({ id }) => id);
};

/** Asks the directory and plain SQL, in the snapshot of `sql`, and compares. */
export const expectSame = async (sql: Sql, directory: Directory, question: Question): Promise<void> => {
  const { offset, limit } = question;
  const expected = await plain(sql, directory, question);
  const request = { ...question, offset: BigInt(offset), columns: 'item.id' };
  const page = await readPage<{ id: string }>(sql, directory, request);
  const wanted = {
    total: expected.length,
    items: expected.slice(offset, offset + limit).map((id) => ({ id })),
    hasMore: expected.length > offset + limit,
  };
  expect(page, JSON.stringify(question)).toEqual(wanted);
  const { items, hasMore } = await readSlice<{ id: string }>(sql, directory, request);
  expect({ items, hasMore }).toEqual({ items: wanted.items, hasMore: wanted.hasMore });
};

/** Every filter value, known and unknown, as a whole and in part; and the directory's own check. */
export const expectAllSame = async (sql: Sql, directory: Directory, since?: string): Promise<void> => {
  const filters = [
    ...owners.map((value) => ({ column: 'owner', value })),
    ...[...kinds, 99].map((value) => ({ column: 'kind', value })),
  ];
  for (const filter of [undefined, ...filters]) {
    const narrowed = filter ? { filter } : {};
    await expectSame(sql, directory, { ...narrowed, offset: 0, limit: 1000 });
    await expectSame(sql, directory, { ...narrowed, offset: 5, limit: 3, ...(since ? { since } : {}) });
  }
  expect(await measureDrift(sql, directory)).toBe(0);
};

/** Runs `look` in one snapshot, as REPEATABLE READ gives it. */
export const inSnapshot = (sql: Sql, look: (snapshot: Sql) => Promise<void>): Promise<unknown> =>
  sql.begin('isolation level repeatable read read only', (snapshot: TransactionSql) =>
    look(snapshot as unknown as Sql),
  );
