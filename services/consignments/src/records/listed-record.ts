import type { Directory, FilterValue } from '@platform/pagination/directory';
import { indexedPageOf, pageIndexQuery, totalledBody, totalledListJson } from '@platform/pagination/list';
import { idParams, record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import postgres from 'postgres';
import { v7 } from 'uuid';
import { z } from 'zod';
import { isVisible, narrowToClients } from '../clients.ts';
import type { Context } from '../context.ts';
import { followRoutes } from './follow-routes.ts';
import type { Columns } from './page.ts';
import { refuseUsed, type Reference } from './queries.ts';
import { tableOf, tableRows, type Rows } from './rows.ts';
import { listRecords } from './use-cases.ts';

/** The properties in which the four record types differ. */
interface ListedRecord<Input extends z.ZodType, Patch extends z.ZodType> {
  /** Name of the list: its table, its path, and the field that holds the items. */
  list: string;
  /** Name of one record in texts. */
  name: string;
  /** Page directory of the list. Without one, all matching records are counted for each page. */
  directory?: Directory;
  /** Columns that may refer to a record; a record cannot be deleted while one does. */
  usedBy?: readonly Reference[];
  schema: z.ZodObject;
  /** An item of the list. */
  listed: z.ZodObject;
  input: Input;
  patch: Patch;
  /** Omitted if a record is one row of its table. */
  rows?: Rows<z.output<Input>, z.output<Patch>>;
  /** The query parameter `SearchText`. */
  searchText: z.ZodType<string | undefined>;
  /** The other query parameters beside those of the page. */
  filters: Readonly<Record<string, z.ZodType<FilterValue | undefined>>>;
  /** Converts filters to conditions on columns. By default, each filter is a condition on the column of its name. */
  conditions?: (filters: Columns) => Columns;
  /** Passed on to `record`. */
  change?: { conflict?: string; unprocessable?: string; remarks?: readonly string[] };
  examples: { id: string; input: z.input<NoInfer<Input>>; patch: z.input<NoInfer<Patch>> };
}

/** Maps filters to columns: `ClientId` becomes `client_id` (`fromCamel` returns `_client_id`). */
export const columnsOf = (filters: Columns): Columns =>
  Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [postgres.fromCamel(name).slice(1), value]),
  );

/** The routes of a record whose rows PostgreSQL converts to JSON, and of its list with PageIndex and PageSize. */
export const listedRecord = <Input extends z.ZodType<object>, Patch extends z.ZodType<object>>(
  context: Context,
  { list, name, directory, usedBy, schema, listed, ...spec }: ListedRecord<Input, Patch>,
): Route[] => {
  const { input, patch, searchText, filters, conditions = columnsOf, examples, change } = spec;
  const table = tableOf(list, listed);
  const rows: Rows<z.output<Input>, z.output<Patch>> = spec.rows ?? tableRows(list, schema);
  const title = `${list.charAt(0).toUpperCase()}${list.slice(1)}`;
  const operations = record({
    path: `/${list}`,
    basePath: '/v1',
    params: idParams(examples.id),
    tag: title,
    name,
    schema,
    read: context.reader,
    write: context.writer,
    sql: context.database.sql,
    list: {
      summary: `${title}, newest first`,
      description: 'Parameter names are case-insensitive.',
      anyCaseQuery: true,
      query: z.strictObject({ ...pageIndexQuery, SearchText: searchText, ...filters }),
      body: totalledBody(list, listed).meta({ id: `${schema.meta()?.id}List` }),
      page: async ({ PageIndex, PageSize, SearchText, ...values }, { caller }) => {
        const page = indexedPageOf({ PageIndex, PageSize });
        const where = {
          columns: conditions(narrowToClients(list, values, caller)),
          text: SearchText,
        };
        const source = { table: list, json: table.json, directory };
        return totalledListJson(list, page, await listRecords(context, source, where, page));
      },
    },
    find: async (sql, { params, caller }, lock) => {
      const json = await rows.find(sql, params.id, lock);
      return json !== undefined && isVisible(list, json, caller) ? json : undefined;
    },
    create: {
      input,
      example: examples.input,
      insert: async (sql, values, { caller }) => {
        const id = v7();
        return { id, json: await rows.insert(sql, id, values, caller) };
      },
    },
    change: {
      patch,
      example: examples.patch,
      ...change,
      save: (tx, values, { params, caller }, current) => rows.update(tx, params.id, values, current, caller),
    },
    remove: {
      ...(usedBy && { conflict: '409 `in_use` while a consignment or an inventory item refers to it.' }),
      delete: async (sql, { params, caller }) => {
        if (usedBy) await refuseUsed(sql, usedBy, params.id);
        await rows.remove(sql, params.id, caller);
      },
    },
  });
  const followed = { list, name, tag: title, item: listed, json: table.json, filters };
  return [...operations, ...followRoutes(context, followed)];
};
