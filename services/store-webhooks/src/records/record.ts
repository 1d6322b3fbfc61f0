import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { and, desc, eq } from 'drizzle-orm';
import type { PgColumn, PgTable, PgView } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeId } from '../stores/routes.ts';

/** The common part of a list and of the address of a single record. */
export interface Shown<Row extends object> {
  table: (PgTable | PgView) & { storeId: PgColumn; $inferSelect: Row };
  tag: string;
  /** Fields that the view does not have are left out of the answer. */
  view: z.ZodObject;
  /** Makes a view of a row; the row itself if absent. */
  show?(row: Row): object;
}

/** The address of a single record: `GET /v1/stores/{id}/<path>/{…}`. */
export interface OneRecord {
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

/** What the routes of records have in common. */
export const shared = (context: Context, tag: string) =>
  ({ method: 'get', tag, auth: context.verifier.guard('stores:admin'), problems: [404] }) as const;

/** Changes the values of an object. */
export const mapValues = <T, U>(
  record: Record<string, T>,
  change: (value: T, name: string) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));

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
        return { status: 200, body: { ...show(row as Row), storeId: undefined } };
      },
    );
  };
