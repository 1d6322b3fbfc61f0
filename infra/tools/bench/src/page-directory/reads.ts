import { readPage, type PageRequest } from '@platform/pagination/directory';
import type { Sql } from 'postgres';
import { median } from '../figure.ts';
import { list, valueOf } from './list.ts';

const limit = 25;

const timed = async (work: () => PromiseLike<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** The same page and total by OFFSET and count(*), on the same table and indexes. */
const plain = (sql: Sql, { filter, since, offset }: PageRequest): PromiseLike<unknown> => {
  const where = sql`${filter ? sql`${sql(filter.column)} = ${filter.value}` : sql`true`}
    and ${since === undefined ? sql`true` : sql`created_at >= ${since}`}`;
  return sql`select *, (select count(*) from parcels where ${where}) as total from parcels where ${where}
    order by created_at desc, id desc offset ${String(offset)} limit ${limit}`;
};

/** Milliseconds, p50: the first, the middle and the last page, and the last by OFFSET and count(*). */
export interface PageTimes {
  first: number;
  middle: number;
  last: number;
  plain: number;
}

/** Reads the pages of one filter in turn, so that other load of the machine affects them equally. */
export const timePages = async (sql: Sql, column: string | undefined, since?: string): Promise<PageTimes> => {
  const base = {
    limit,
    ...(column === undefined ? {} : { filter: { column, value: valueOf(column) } }),
    ...(since === undefined ? {} : { since }),
  };
  const { total } = await readPage(sql, list, { ...base, offset: 0n });
  const last = Math.floor((total - 1) / limit);
  const at = (page: number) => ({ ...base, offset: BigInt(page * limit) });
  const times: Record<keyof PageTimes, number[]> = { first: [], middle: [], last: [], plain: [] };
  for (let turn = 0; turn < 300; turn++) {
    times.first.push(await timed(() => readPage(sql, list, at(0))));
    times.middle.push(await timed(() => readPage(sql, list, at(last >> 1))));
    times.last.push(await timed(() => readPage(sql, list, at(last))));
    if (turn % 50 === 0) times.plain.push(await timed(() => plain(sql, at(last))));
  }
  const p50 = (name: keyof PageTimes) => median(times[name]);
  return { first: p50('first'), middle: p50('middle'), last: p50('last'), plain: p50('plain') };
};
