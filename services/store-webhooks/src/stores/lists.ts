import { pageLimitBody, pageLimitQuery, pageList, pageOf, type Page } from '@platform/pagination/page-limit';
import { slice } from '@platform/pagination/slice';
import type { Executor } from '@platform/service-kit/db';
import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { and, desc, eq, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable, SelectedFields } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeId } from './routes.ts';
import { findStore } from './store.ts';

interface Filter {
  schema: z.ZodType;
  condition(value: string): SQL | undefined;
}

/** The address of a single record: `GET /v1/stores/{id}/<path>/{param}`. */
interface OneRecord {
  /** What the record is called in messages, such as `delivery job`. */
  noun: string;
  param: string;
  /** Schema of the path parameter; a text if absent. */
  value?: z.ZodType;
  operationId: string;
  summary: string;
  key: PgColumn;
  /** Optional query parameters that narrow the look-up, by name. */
  narrowBy?: Record<string, PgColumn>;
}

interface ListSpec<Table extends PgTable, View extends z.ZodObject> {
  table: Table & { storeId: PgColumn };
  /** The columns to read; all if absent. */
  columns?: SelectedFields;
  /** The order of the list, greatest first. There must be an index on the store and this column. */
  latest: PgColumn;
  /** Name of the array in the answer, such as `deliveryJobs`; the path is `delivery-jobs`. */
  name: string;
  operationId?: string;
  tag: string;
  summary: string;
  /** Fields that the view does not have are left out of the answer. */
  view: View;
  /** Makes a view of a row; the row itself if absent. */
  show?(row: Table['$inferSelect']): z.input<View>;
  /** Query parameters that narrow the list, by name. */
  filters?: Record<string, Filter>;
  one?: OneRecord;
}

interface List {
  path: string;
  /** Rows of a page and one more. */
  rows(db: Executor, storeId: string, page: Pick<Page, 'offset' | 'limit'>, query?: object): RowQuery;
  routes(context: Context): Route[];
}

interface RowQuery extends PromiseLike<object[]> {
  toSQL(): { sql: string; params: unknown[] };
}

/** Declares the list of one kind of record of a store, and the address of a single record. */
export const declareList = <Table extends PgTable, View extends z.ZodObject>(
  spec: ListSpec<Table, View>,
): List => {
  const { latest, name, tag, summary, columns, filters = {}, one } = spec;
  const path = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const table: PgTable & { storeId: PgColumn } = spec.table;
  const view: z.ZodObject = spec.view;
  const show = (row: object) =>
    (spec.show === undefined ? row : spec.show(row as Table['$inferSelect'])) as Record<string, unknown>;
  const select = (db: Executor) => (columns === undefined ? db.select() : db.select(columns)).from(table);
  const rows: List['rows'] = (db, id, { offset, limit }, query = {}) =>
    select(db)
      .where(
        and(
          eq(table.storeId, id),
          ...Object.entries(query).map(([field, value]) => filters[field]?.condition(String(value))),
        ),
      )
      .orderBy(desc(latest))
      .offset(Number(offset))
      .limit(limit + 1);
  const shared = (context: Context) =>
    ({ method: 'get', tag, caller: context.verifier.guard('stores:admin'), problems: [404] }) as const;

  const listRoute = (context: Context) =>
    route(
      {
        ...shared(context),
        path: `/v1/stores/{id}/${path}`,
        operationId: spec.operationId ?? `list_${name}`,
        summary,
        params: storeId,
        query: z.strictObject({
          ...pageLimitQuery,
          ...Object.fromEntries(Object.entries(filters).map(([field, { schema }]) => [field, schema])),
        }),
        responses: { 200: { description: 'A page', body: pageLimitBody(name, view) } },
      },
      async ({ params, query }) => {
        const { orm } = context.database;
        await findStore(orm, params.id);
        const page = pageOf(query);
        const { items, hasMore } = slice(await rows(orm, params.id, page, query), page.limit);
        return { status: 200, body: pageList(name, page, { items: items.map(show), hasMore }) };
      },
    );

  const oneRoute = (context: Context, record: OneRecord) => {
    const { noun, param, value = text(1, 200), operationId, key, narrowBy = {} } = record;
    return route(
      {
        ...shared(context),
        path: `/v1/stores/{id}/${path}/{${param}}`,
        operationId,
        summary: record.summary,
        params: z.strictObject({ id: z.uuid(), [param]: value }),
        query: z.strictObject(
          Object.fromEntries(Object.keys(narrowBy).map((field) => [field, text(0, 100).optional()])),
        ),
        responses: { 200: { description: `The ${noun}`, body: view } },
      },
      async ({ params, query }) => {
        const narrowed = Object.entries(query).map(([field, given]) =>
          eq(narrowBy[field] as PgColumn, given),
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
    rows,
    routes: (context) => [listRoute(context), ...(one === undefined ? [] : [oneRoute(context, one)])],
  };
};
