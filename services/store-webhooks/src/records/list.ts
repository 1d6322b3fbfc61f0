import type { IncomingMessage } from 'node:http';
import type { Caller } from '@platform/auth/bearer';
import { pageLimitBody, pageLimitQuery, readPageList, type Window } from '@platform/pagination/list';
import { ormOf, type Executor } from '@platform/service-kit/db';
import { ValidationFailed } from '@platform/service-kit/problem';
import { record } from '@platform/service-kit/record';
import { route, type Route } from '@platform/service-kit/route';
import { isLatePage } from '@platform/service-kit/search-pool';
import { and, desc, eq, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable, PgView, SelectedFields } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { allow, everyStore, requireScope } from '../access.ts';
import type { Context } from '../context.ts';
import { stores } from '../db/tables.ts';
import { StorePath } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';
import type { Filter } from './filters.ts';
import { followRoutes } from './followed.ts';
import { readWithinMemory } from './page-memory.ts';
import { mapValues, readableRecord, type SingleRecord } from './record.ts';

interface ListSpec<Row extends object> {
  table: (PgTable | PgView) & { storeId: PgColumn; $inferSelect: Row };
  tag: string;
  /** Scope of the readers; `stores:read` if absent. */
  scope?: 'stores:read' | 'events:read' | 'payments:read';
  /** Schema of an item. Fields that it does not have are left out of the response. */
  view: z.ZodObject;
  /** Converts a row to an item; default: the row itself. */
  show?(row: Row): object;
  /** The columns to read, and aliased expressions; all columns if absent. */
  columns?: SelectedFields;
  /** Column that orders the list, greatest first: a UUIDv7. There must be an index on the store and this column. */
  latest: PgColumn;
  /** Name of the array in the response, such as `deliveryJobs`; the path is `delivery-jobs`. */
  name: string;
  operationId?: string;
  summary: string;
  description?: string;
  /** Query parameters that narrow the list, by name. */
  filters?: Record<string, Filter>;
  /**
   * For a view: the table that its rows and their order come from, under the name of the view, and the filters that need no
   * other table. With only these filters, the ids of a page are read from the index of that table alone.
   */
  base?: { table: PgTable & { storeId: PgColumn; id: PgColumn }; filters: readonly string[] };
  /** The approximate bytes of a row, if rows may be large. It is computed for a whole page, so it must be cheap. */
  bytes?: SQL<number>;
  /** Called before the response with the rows of the page, and the row after it if there is one. */
  onRead?(context: Context, read: PageRead<Row>): Promise<void>;
  single?: SingleRecord;
}

interface PageRead<Row> {
  rows: readonly Row[];
  query: Record<string, unknown>;
  caller: Caller;
  req: IncomingMessage;
}

/** In a list of all stores, the rows before the page are read for each store, so their number is limited. */
const maxOffsetOfEveryStore = 10_000n;

const listParams = z.strictObject({
  storeId: z
    .union([z.uuid('must be a UUID, or - for all stores').toLowerCase(), z.literal(everyStore)])
    .meta({
      ...StorePath.shape.storeId.meta(),
      description: 'The store; `-`: all stores that the caller may read',
    }),
});

/** Declares the list of the records of a store, and the address of a single record. */
export const declareList = <Row extends object>(spec: ListSpec<Row>) => {
  const { table, latest, name, tag, scope = 'stores:read', summary, description, columns } = spec;
  const { show = (row) => row, filters = {}, single, base } = spec;
  const path = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const selected = columns ?? getTableColumns(table as PgTable);

  const matches = (store: string | PgColumn, query: object): SQL | undefined =>
    and(
      eq(table.storeId, store),
      ...Object.entries(query).map(([field, value]) => filters[field]?.condition(String(value), store)),
    );

  /** Every index starts with the store, so the newest rows are read store by store and then merged. */
  const ofEveryStore = (
    db: Executor,
    page: SelectedFields,
    lastRow: number,
    query: object,
    only: Caller['stores'],
  ) => {
    const newest = db
      .select(page)
      .from(table)
      .where(matches(stores.id, query))
      .orderBy(desc(latest))
      .limit(lastRow)
      .as('newest');
    const fields = mapValues(page, (_column, field) => newest[field as never] as PgColumn);
    const order = Object.keys(page).find((field) => (page[field] as PgColumn).name === latest.name) ?? '';
    return db
      .select(fields)
      .from(stores)
      .crossJoinLateral(newest)
      .where(only && inArray(stores.id, [...only]))
      .orderBy(desc(fields[order] as PgColumn));
  };

  /** Selects these columns of the rows of a page, and of the row after it; `-` reads all stores, or those in `only`. */
  const pageOf = (
    db: Executor,
    fields: SelectedFields,
    store: string,
    { offset, limit }: Window,
    query: object,
    only?: Caller['stores'],
  ) => {
    const [skipped, read] = [Number(offset), limit + 1];
    if (store === everyStore)
      return ofEveryStore(db, fields, skipped + read, query, only)
        .offset(skipped)
        .limit(read);
    const filtered = Object.keys(query).filter((field) => filters[field] !== undefined);
    const from: PgTable | PgView =
      base && filtered.every((field) => base.filters.includes(field)) ? base.table : table;
    return db
      .select(fields)
      .from(from)
      .where(matches(store, query))
      .orderBy(desc(latest))
      .offset(skipped)
      .limit(read);
  };

  /** The rows of a page, and the row after it. */
  const rows = (db: Executor, store: string, window: Window, query: object = {}, only?: Caller['stores']) => {
    if (store === everyStore) return pageOf(db, selected, store, window, query, only);
    // For the rows before the page, only `latest` is read from the index, so a late page costs little more than the first.
    const page = pageOf(db, { latest }, store, window, query);
    return db
      .select(selected)
      .from(table)
      .where(and(eq(table.storeId, store), sql`${latest} = any(array${page})`))
      .orderBy(desc(latest));
  };

  /** Reads a page, but few large ones at the same time. Throws ValidationFailed for one above `maxPage`. */
  const readBounded = async (
    { largeWork }: Context,
    ...[db, store, window, query = {}, only]: Parameters<typeof rows>
  ): Promise<Row[]> => {
    const readAll = async () => (await rows(db, store, window, query, only)) as Row[];
    if (spec.bytes === undefined) return readAll();
    const page = pageOf(db, { latest, bytes: spec.bytes.as('bytes') }, store, window, query, only).as('page');
    const [sum] = await db.select({ bytes: sql`coalesce(sum(bytes), 0)`.mapWith(Number) }).from(page);
    return readWithinMemory(largeWork, { name, bytes: sum?.bytes ?? 0 }, readAll);
  };

  /** Finds the record of a store with these field values, and converts it to an item; null if there is none. */
  const find = async (
    db: Executor,
    storeId: string,
    values: Record<string, string>,
    lock = false,
  ): Promise<object | null> => {
    const conditions = Object.entries({ storeId, ...values }).map(([field, value]) =>
      eq(table[field as 'storeId'], value),
    );
    const query = db
      .select(selected)
      .from(table)
      .where(and(...conditions))
      .orderBy(...(single?.narrowBy === undefined ? [] : [desc(latest)]))
      .limit(1);
    const [row] = await (lock ? query.for('update') : query);
    if (row === undefined) return null;
    const { storeId: _storeId, ...fields } = row as Row & { storeId?: string };
    return spec.view.parse(show(fields as Row));
  };

  const list = (context: Context) =>
    route(
      {
        method: 'get',
        tag,
        auth: allow(context, scope),
        problems: [404],
        path: `/v1/stores/{storeId}/${path}`,
        operationId: spec.operationId ?? `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        summary,
        ...(description !== undefined && { description }),
        params: listParams,
        query: z.strictObject({ ...pageLimitQuery, ...mapValues(filters, ({ schema }) => schema) }),
        responses: { 200: { description: 'A page', body: pageLimitBody(name, spec.view) } },
      },
      async ({ params: { storeId: id }, query, caller, req }) => {
        const isEveryStore = id === everyStore;
        for (const field of Object.keys(query))
          if (filters[field]?.scope !== undefined) requireScope(caller, filters[field].scope);
        if (!isEveryStore) await requireStore(context, id);
        const readRows = async (page: Window) => {
          if (isEveryStore && page.offset > maxOffsetOfEveryStore) {
            const last = maxOffsetOfEveryStore / BigInt(page.limit) + 1n;
            throw new ValidationFailed({
              page: [`must be at most ${last} with limit ${page.limit} in a list of all stores`],
            });
          }
          const readOn = (db: Executor) => readBounded(context, db, id, page, query, caller.stores);
          const isSearch = Object.keys(query).some((field) => filters[field]?.isSearch);
          // A list of all stores reads the rows before its page for each store.
          const pageRows = await (isEveryStore || isSearch || isLatePage(page)
            ? context.searches.run((on) => readOn(ormOf(on, context.database)))
            : readOn(context.database.orm));
          // With the row after the page, because has_more shows that it exists.
          await spec.onRead?.(context, { rows: pageRows, query, caller, req });
          return pageRows.map((row) => ({
            ...show(row),
            storeId: isEveryStore ? (row as { storeId?: string }).storeId : undefined,
          }));
        };
        return { status: 200, body: await readPageList(name, query, readRows) };
      },
    );

  const recordRoutes = (context: Context, { operations = record, ...options }: SingleRecord) =>
    operations(readableRecord(context, { ...options, path, tag, scope, schema: spec.view, find }), context);
  return {
    path,
    rows,
    find,
    followRoutes: (context: Context): Route[] =>
      followRoutes(context, {
        list: path,
        // Only notifications have no address of a single record.
        name: single?.name ?? 'notification',
        tag,
        table: table as PgTable & typeof table,
        columns: selected,
        bytes: spec.bytes,
        scope,
        view: spec.view,
        show,
      }),
    routes: (context: Context): Route[] => [list(context), ...(single ? recordRoutes(context, single) : [])],
  };
};
