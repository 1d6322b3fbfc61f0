import { pageLimitBody, pageLimitQuery, pageList, pageOf, type Page } from '@platform/pagination/page-limit';
import { slice } from '@platform/pagination/slice';
import type { Executor } from '@platform/service-kit/db';
import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { and, desc, eq } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeId } from './routes.ts';
import { requireStore } from './use-cases.ts';

interface OneRecord {
  /** The record in a sentence, such as `delivery job`. */
  noun: string;
  /** Name of the last path parameter. */
  param: string;
  /** Shape of that parameter; a text if absent. */
  value?: z.ZodType;
  operationId: string;
  summary: string;
  key: PgColumn;
  /** Optional query parameters that narrow the look-up, by name. */
  narrowBy?: Record<string, PgColumn>;
}

interface RecordSpec<Table extends PgTable, View extends z.ZodObject> {
  table: Table & { storeId: PgColumn };
  /** What the list is ordered by, greatest first. With the store it must have an index. */
  latest: PgColumn;
  /** Name of the array in the answer, such as `deliveryJobs`. */
  name: string;
  /** Last part of the path, such as `delivery-jobs`. */
  path: string;
  tag: string;
  summary: string;
  view: View;
  /** May return more fields than the view has; those are left out. */
  show(row: Table['$inferSelect']): z.input<View>;
  /** Left out where a single record has no address. */
  one?: OneRecord;
}

/** One kind of record that belongs to a store: its list, and the address of a single record. */
export interface Records {
  path: string;
  /** Rows of a page and one more. */
  list(db: Executor, storeId: string, page: Pick<Page, 'offset' | 'limit'>): RecordQuery;
  routes(context: Context): Route[];
}

interface RecordQuery extends PromiseLike<object[]> {
  toSQL(): { sql: string; params: unknown[] };
}

/** Declares `GET /v1/stores/{id}/<path>` and `GET /v1/stores/{id}/<path>/{param}` for a table. */
export const declareRecords = <Table extends PgTable, View extends z.ZodObject>(
  spec: RecordSpec<Table, View>,
): Records => {
  const { latest, name, path, tag, summary, one } = spec;
  const table: PgTable & { storeId: PgColumn } = spec.table;
  const view: z.ZodObject = spec.view;
  const fields = Object.keys(view.shape);
  const show = (row: object): Record<string, unknown> => {
    const shown: Record<string, unknown> = spec.show(row as Table['$inferSelect']);
    return Object.fromEntries(fields.map((field) => [field, shown[field]]));
  };
  const select = (db: Executor) => db.select().from(table);
  const list: Records['list'] = (db, id, { offset, limit }) =>
    select(db)
      .where(eq(table.storeId, id))
      .orderBy(desc(latest))
      .offset(Number(offset))
      .limit(limit + 1);

  const listRoute = (context: Context) =>
    route(
      {
        method: 'get',
        path: `/v1/stores/{id}/${path}`,
        operationId: `list_${name}`,
        tag,
        summary,
        caller: context.verifier.guard('stores:admin'),
        params: storeId,
        query: z.strictObject(pageLimitQuery),
        responses: { 200: { description: 'A page', body: pageLimitBody(name, view) } },
        problems: [404],
      },
      async ({ params, query }) => {
        await requireStore(context, params.id);
        const page = pageOf(query);
        const { items, hasMore } = slice(await list(context.database.orm, params.id, page), page.limit);
        return { status: 200, body: pageList(name, page, { items: items.map(show), hasMore }) };
      },
    );

  const oneRoute = (context: Context, record: OneRecord) => {
    const { noun, param, value = text(1, 200), operationId, key, narrowBy = {} } = record;
    return route(
      {
        method: 'get',
        path: `/v1/stores/{id}/${path}/{${param}}`,
        operationId,
        tag,
        summary: record.summary,
        caller: context.verifier.guard('stores:admin'),
        params: z.strictObject({ id: z.uuid(), [param]: value }),
        query: z.strictObject(
          Object.fromEntries(Object.keys(narrowBy).map((field) => [field, text(0, 100).optional()])),
        ),
        responses: { 200: { description: `The ${noun}`, body: view } },
        problems: [404],
      },
      async ({ params, query }) => {
        const narrowed = Object.entries(query).map(([field, value]) =>
          eq(narrowBy[field] as PgColumn, value),
        );
        const [row] = await select(context.database.orm)
          .where(and(eq(table.storeId, params['id']), eq(key, params[param]), ...narrowed))
          .orderBy(desc(latest))
          .limit(1);
        if (row === undefined) throw new NotFound(noun);
        return { status: 200, body: show(row) };
      },
    );
  };

  return {
    path,
    list,
    routes: (context) => [listRoute(context), ...(one === undefined ? [] : [oneRoute(context, one)])],
  };
};
