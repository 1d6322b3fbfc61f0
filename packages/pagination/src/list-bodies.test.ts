import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  fullListJson,
  pageIndexQuery,
  pageLimitBody,
  pageLimitQuery,
  pageList,
  pageListJson,
  pageOf,
  readPageList,
  slice,
  totalledBody,
  totalledListJson,
} from './list.ts';

const item = z.object({ id: z.string() });
/** The same rows as JSON text. */
const jsonRows = (count: number): string[] => rows(count).map((row) => JSON.stringify(row));
const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index) }));

describe('page and limit', () => {
  const page = pageOf({ page: 3, limit: 2 });

  it('leaves the additional row out of a page', async () => {
    const read = async ({ offset, limit }: { offset: bigint; limit: number }) =>
      rows(10).slice(Number(offset), Number(offset) + limit + 1);
    expect(await readPageList('projects', { page: 2, limit: 2 }, read)).toEqual({
      projects: [{ id: '2' }, { id: '3' }],
      page: { number: 2, has_more: true, limit: 2 },
    });
    expect(await readPageList('projects', { page: 5, limit: 2 }, read)).toEqual({
      projects: [{ id: '8' }, { id: '9' }],
      page: { number: 5, has_more: false, limit: 2 },
    });
  });

  it('has more if the query returned one row more than the limit', () => {
    expect(pageList('projects', page, slice(rows(3), 2))).toEqual({
      projects: rows(2),
      page: { number: 3, has_more: true, limit: 2 },
    });
    expect(pageList('projects', page, slice(rows(2), 2)).page.has_more).toBe(false);
    expect(pageList('projects', page, slice(rows(0), 2))).toEqual({
      projects: [],
      page: { number: 3, has_more: false, limit: 2 },
    });
  });

  it('returns a full list as one page of its length', () => {
    for (const count of [0, 4])
      expect(JSON.parse(fullListJson('languages', jsonRows(count)))).toEqual({
        languages: rows(count),
        page: { number: 1, has_more: false, limit: count },
      });
  });

  it('builds the same bodies from rows that are JSON text', () => {
    const body = { items: jsonRows(2), hasMore: true };
    expect(JSON.parse(pageListJson('projects', page, body))).toEqual(
      pageList('projects', page, { items: rows(2), hasMore: true }),
    );
  });

  it('describes exactly the bodies that it builds', () => {
    const schema = pageLimitBody('projects', item);
    const body = pageList('projects', page, slice(rows(3), 2));
    expectTypeOf(body).toExtend<z.input<typeof schema>>();
    expect(schema.strict().parse(body)).toEqual(body);
    const full: unknown = JSON.parse(fullListJson('projects', []));
    expect(schema.parse(full)).toEqual(full);
    expect(schema.safeParse({ items: [], page: body.page }).success).toBe(false);
  });

  it('refuses a parameter that the service did not declare', () => {
    const query = z.strictObject({ ...pageLimitQuery, status: z.enum(['draft']).optional() });
    expect(query.parse({})).toEqual({ page: 1, limit: 50 });
    expect(query.parse({ page: '2', limit: '200', status: 'draft' })).toMatchObject({ page: 2, limit: 200 });
    expect(query.safeParse({ page_size: '2' }).error?.issues[0]).toMatchObject({ keys: ['page_size'] });
    expect(query.safeParse({ page: ['1', '2'] }).success).toBe(false);
  });
});

describe('index and total', () => {
  it('describes exactly the bodies that it builds', () => {
    const schema = totalledBody('warehouses', item);
    const body = JSON.parse(totalledListJson('warehouses', { index: 7 }, { items: jsonRows(2), total: 30 }));
    expect(body).toEqual({ index: 7, total: 30, warehouses: rows(2) });
    expect(schema.strict().parse(body)).toEqual(body);
  });

  it('has the documented defaults', () => {
    expect(z.strictObject(pageIndexQuery).parse({})).toEqual({ PageIndex: 0, PageSize: 25 });
  });
});
