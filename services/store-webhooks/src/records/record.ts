import { isNotModified } from '@platform/service-kit/etag';
import {
  documentedHeaders,
  orNotFound,
  versionHeaders,
  versionOf,
} from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { and, desc, eq } from 'drizzle-orm';
import type { PgColumn, PgTable, PgView } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { storeId } from '../stores/routes.ts';

/** The common part of a list and of the address of a single record. */
export interface Shown<Row extends object> {
  table: (PgTable | PgView) & { storeId: PgColumn; $inferSelect: Row };
  tag: string;
  /** Scope of the readers; `stores:read` if absent. */
  scope?: 'stores:read' | 'events:read' | 'payments:read';
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
export const shared = (
  context: Context,
  { tag, scope = 'stores:read' }: Pick<Shown<object>, 'tag' | 'scope'>,
) => ({ method: 'get', tag, auth: allow(context, scope), problems: [404] }) as const;

/** The version of a record, by its view. */
export const recordVersion = (view: object): string => versionOf(JSON.stringify(view));

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
    const { table, path, view, noun, summary, key, narrowBy = {}, latest, show = (row) => row } = spec;
    const { etag, ifNoneMatch } = documentedHeaders(noun);
    const names = Object.keys(key).map((name) => `{${name}}`);
    const columns = { id: table.storeId, ...mapValues(key, ({ column }) => column), ...narrowBy };
    return route(
      {
        ...shared(context, spec),
        path: `/v1/stores/{id}/${path}/${names.join('/')}`,
        operationId: `get${noun.replaceAll(/(?:^| )./g, (first) => first.trim().toUpperCase())}`,
        summary,
        params: storeId.extend(mapValues(key, ({ schema = text(1, 200) }) => schema)),
        query: z.strictObject(mapValues(narrowBy, () => text(0, 100).optional())),
        headers: ifNoneMatch,
        responses: {
          200: { description: `The ${noun}`, body: view, headers: etag },
          304: { description: 'You have this version', headers: etag },
        },
      },
      async ({ params, query, req }) => {
        const given = Object.entries({ ...params, ...query });
        const [row] = await context.database.orm
          .select()
          .from(table)
          .where(and(...given.map(([name, value]) => eq(columns[name as 'id'], value))))
          .orderBy(...(latest === undefined ? [] : [desc(latest)]))
          .limit(1);
        const body = { ...show(orNotFound(row, noun) as Row), storeId: undefined };
        const headers = versionHeaders(recordVersion(body));
        return isNotModified(req, recordVersion(body))
          ? { status: 304, headers }
          : { status: 200, headers, body };
      },
    );
  };
