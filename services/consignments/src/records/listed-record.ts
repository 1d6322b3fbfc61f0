import { indexedPageOf, totalledBody, totalledListJson, type IndexedPage } from '@platform/pagination/list';
import { idParams, record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { Kind } from './kind.ts';
import type { WrittenPage } from './page.ts';
import { deleteRecord, findRecord, insertRecord, updateRecord } from './queries.ts';

/** What the four kinds of record differ in. */
interface ListedRecord<Query extends z.ZodObject, Input extends z.ZodType, Patch extends z.ZodType> {
  /** Name of the list: its path, and the field that holds the items. */
  list: string;
  /** One record in words. */
  name: string;
  kind: Kind;
  schema: z.ZodObject;
  query: Query;
  input: Input;
  patch: Patch;
  examples: { id: string; input: z.input<NoInfer<Input>>; patch: z.input<NoInfer<Patch>> };
  inUse?: string;
  page: (filters: z.output<Query>, page: IndexedPage) => Promise<WrittenPage>;
}

/** The operations of a record whose rows PostgreSQL writes as JSON, listed by PageIndex and PageSize. */
export const listedRecord = <
  Query extends z.ZodObject,
  Input extends z.ZodType<object>,
  Patch extends z.ZodType<object>,
>(
  { database, reader, writer }: Context,
  {
    list,
    kind,
    query,
    input,
    patch,
    examples,
    inUse,
    page: readPage,
    ...named
  }: ListedRecord<Query, Input, Patch>,
): Route[] =>
  record({
    ...named,
    path: `/${list}`,
    basePath: '/v1',
    params: idParams(examples.id),
    tag: `${list.charAt(0).toUpperCase()}${list.slice(1)}`,
    read: reader,
    write: writer,
    sql: database.sql,
    list: {
      summary: `${list.charAt(0).toUpperCase()}${list.slice(1)}, newest first, with their exact total`,
      description: 'Parameter names are case-insensitive.',
      anyCaseQuery: true,
      query,
      body: totalledBody(list, named.schema).meta({ id: `${named.schema.meta()?.id}List` }),
      page: async (filters) => {
        const page = indexedPageOf(filters as z.output<Query> & { PageIndex: number; PageSize: number });
        return totalledListJson(list, page, await readPage(filters, page));
      },
    },
    find: (sql, { params: { id } }, lock) => findRecord(sql, kind, id, lock),
    create: { input, example: examples.input, insert: (sql, values) => insertRecord(sql, kind, values) },
    change: {
      patch,
      example: examples.patch,
      save: (sql, values, { params: { id } }) => updateRecord(sql, kind, id, values),
    },
    remove: {
      ...(inUse !== undefined && { conflict: inUse }),
      delete: (sql, { params: { id } }) => deleteRecord(sql, kind, id),
    },
  });
