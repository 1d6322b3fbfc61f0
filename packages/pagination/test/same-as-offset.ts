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

export interface TestRequest {
  filter?: { column: string; value: FilterValue };
  since?: string;
  offset: number;
  limit: number;
}

/** All matching ids in the order of the list, by plain SQL. */
const idsByPlainSql = async (
  sql: Sql,
  directory: Directory,
  { filter, since }: TestRequest,
): Promise<string[]> => {
  const direction = directory.descending ? sql`desc` : sql`asc`;
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(directory.name)}
    where ${filter ? sql`${sql(filter.column)} = ${filter.value}` : sql`true`}
      and ${since === undefined ? sql`true` : sql`changed_at >= ${since}`}
    order by changed_at ${direction}, id ${direction}`;
  return rows.map(({ id }) => id);
};

/** Compares a page of the directory with plain SQL, in the snapshot of `sql`. */
export const expectSame = async (sql: Sql, directory: Directory, request: TestRequest): Promise<void> => {
  const { offset, limit } = request;
  const expected = await idsByPlainSql(sql, directory, request);
  const pageRequest = { ...request, offset: BigInt(offset), columns: 'item.id' };
  const page = await readPage<{ id: string }>(sql, directory, pageRequest);
  const expectedPage = {
    total: expected.length,
    items: expected.slice(offset, offset + limit).map((id) => ({ id })),
    hasMore: expected.length > offset + limit,
  };
  expect(page, JSON.stringify(request)).toEqual(expectedPage);
  const { items, hasMore } = await readSlice<{ id: string }>(sql, directory, pageRequest);
  expect({ items, hasMore }).toEqual({ items: expectedPage.items, hasMore: expectedPage.hasMore });
};

/** Compares whole lists and parts of them for each known and unknown filter value, and checks the drift. */
export const expectAllSame = async (sql: Sql, directory: Directory, since?: string): Promise<void> => {
  const filters = [
    ...owners.map((value) => ({ column: 'owner', value })),
    ...[...kinds, 99].map((value) => ({ column: 'kind', value })),
  ];
  for (const filter of [undefined, ...filters]) {
    const filterOption = filter ? { filter } : {};
    await expectSame(sql, directory, { ...filterOption, offset: 0, limit: 1000 });
    await expectSame(sql, directory, { ...filterOption, offset: 5, limit: 3, ...(since ? { since } : {}) });
  }
  expect(await measureDrift(sql, directory)).toBe(0);
};

/** Runs `read` in one snapshot (REPEATABLE READ). */
export const inSnapshot = (sql: Sql, read: (snapshot: Sql) => Promise<void>): Promise<unknown> =>
  sql.begin('isolation level repeatable read read only', (snapshot: TransactionSql) =>
    read(snapshot as unknown as Sql),
  );
