import type { Caller } from '@platform/auth/bearer';
import { indexedPageOf, totalledBody, totalledListJson, type IndexedPage } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
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
  { list, kind, page: readPage, ...given }: ListedRecord<Query, Input, Patch>,
): Route[] =>
  record<Query, Input, Patch, Caller>({
    ...given,
    path: `/${list}`,
    basePath: '/v1',
    list: {
      order: 'newest first, with their exact total',
      description: 'Parameter names are case-insensitive.',
      anyCaseQuery: true,
      body: totalledBody(list, given.schema).meta({ id: `${given.schema.meta()?.id}List` }),
    },
    read: reader,
    write: writer,
    sql: database.sql,
    page: async (query) => {
      const page = indexedPageOf(query as z.output<Query> & { PageIndex: number; PageSize: number });
      return totalledListJson(list, page, await readPage(query, page));
    },
    find: (sql, id, _caller, lock) => findRecord(sql, kind, id, lock),
    create: (sql, input) => insertRecord(sql, kind, input),
    save: (sql, id, patch) => updateRecord(sql, kind, id, patch),
    remove: (sql, id) => deleteRecord(sql, kind, id),
  });
