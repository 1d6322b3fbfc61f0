import { pageLimitBody, pageLimitQuery, pageList, pageOf, type Page } from '@platform/pagination/page-limit';
import { slice } from '@platform/pagination/slice';
import type { Executor } from '@platform/service-kit/db';
import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { and, desc, eq, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable, PgView, SelectedFields } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeId } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';

/** The common part of a list and of the address of a single record. */
interface Shown<Row extends object> {
  table: (PgTable | PgView) & { storeId: PgColumn; $inferSelect: Row };
  tag: string;
  /** Fields that the view does not have are left out of the answer. */
  view: z.ZodObject;
  /** Makes a view of a row; the row itself if absent. */
  show?(row: Row): object;
}

/** The address of a single record: `GET /v1/stores/{id}/<path>/{…}`. */
interface OneRecord {
  /** Name of the record in messages, such as `delivery job`; its operation id is then `getDeliveryJob`. */
  noun: string;
  summary: string;
  /** The columns that identify it, by path parameter; `schema` is a text if absent. */
  key: Record<string, { column: PgColumn; schema?: z.ZodType<string> }>;
  /** Optional query parameters that narrow the look-up, by name. */
  narrowBy?: Record<string, PgColumn>;
  /** Of several records, the greatest in this column is shown. */
  latest?: PgColumn;
}

interface ListSpec<Row extends object> extends Shown<Row> {
  /** The columns to read; all if absent. */
  columns?: SelectedFields;
  /** The order of the list, greatest first. There must be an index on the store and this column. */
  latest: PgColumn;
  /** Name of the array in the answer, such as `deliveryJobs`; the path is `delivery-jobs`. */
  name: string;
  operationId?: string;
  summary: string;
  /** Query parameters that narrow the list, by name. */
  filters?: Record<string, { schema: z.ZodType; condition(value: string): SQL | undefined }>;
  one?: OneRecord;
}

interface RowQuery extends PromiseLike<object[]> {
  toSQL(): { sql: string; params: unknown[] };
}

interface List {
  path: string;
  /** Rows of a page and one more. */
  rows(db: Executor, storeId: string, page: Pick<Page, 'offset' | 'limit'>, query?: object): RowQuery;
  routes(context: Context): Route[];
}

const shared = (context: Context, tag: string) =>
  ({ method: 'get', tag, caller: context.verifier.guard('stores:admin'), problems: [404] }) as const;

const mapValues = <T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

/** Declares the address of a single record of a store. */
export const declareRecord =
  <Row extends object>(spec: Shown<Row> & OneRecord & { path: string }): ((context: Context) => Route) =>
  (context) => {
    const { table, path, tag, view, noun, summary, key, narrowBy = {}, latest, show = (row) => row } = spec;
    const names = Object.keys(key).map((name) => `{${name}}`);
    const columns = { id: table.storeId, ...mapValues(key, ({ column }) => column), ...narrowBy };
    return route(
      {
        ...shared(context, tag),
        path: `/v1/stores/{id}/${path}/${names.join('/')}`,
        operationId: `get${noun.replaceAll(/(?:^| )./g, (first) => first.trim().toUpperCase())}`,
        summary,
        params: storeId.extend(mapValues(key, ({ schema = text(1, 200) }) => schema)),
        query: z.strictObject(mapValues(narrowBy, () => text(0, 100).optional())),
        responses: { 200: { description: `The ${noun}`, body: view } },
      },
      async ({ params, query }) => {
        const given = Object.entries({ ...params, ...query });
        const [row] = await context.database.orm
          .select()
          .from(table)
          .where(and(...given.map(([name, value]) => eq(columns[name as 'id'], value))))
          .orderBy(...(latest === undefined ? [] : [desc(latest)]))
          .limit(1);
        if (row === undefined) throw new NotFound(noun);
        return { status: 200, body: { ...show(row as Row) } };
      },
    );
  };

/** Declares the list of one kind of record of a store, and the address of a single record. */
export const declareList = <Row extends object>(spec: ListSpec<Row>): List => {
  const { table, latest, name, tag, summary, columns, show = (row) => row, filters = {}, one } = spec;
  const path = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const rows: List['rows'] = (db, id, { offset, limit }, query = {}) =>
    (columns === undefined ? db.select() : db.select(columns))
      .from(table)
      .where(
        and(
          eq(table.storeId, id),
          ...Object.entries(query).map(([field, value]) => filters[field]?.condition(String(value))),
        ),
      )
      .orderBy(desc(latest))
      .offset(Number(offset))
      .limit(limit + 1);

  const list = (context: Context) =>
    route(
      {
        ...shared(context, tag),
        path: `/v1/stores/{id}/${path}`,
        operationId: spec.operationId ?? `list_${name}`,
        summary,
        params: storeId,
        query: z.strictObject({ ...pageLimitQuery, ...mapValues(filters, ({ schema }) => schema) }),
        responses: { 200: { description: 'A page', body: pageLimitBody(name, spec.view) } },
      },
      async ({ params, query }) => {
        await requireStore(context, params.id);
        const page = pageOf(query);
        const found = slice(await rows(context.database.orm, params.id, page, query), page.limit);
        const items = found.items.map((row) => ({ ...show(row as Row) }));
        return { status: 200, body: pageList(name, page, { ...found, items }) };
      },
    );
  const record = one && declareRecord({ ...spec, ...one, path });
  return { path, rows, routes: (context) => [list(context), ...(record ? [record(context)] : [])] };
};
