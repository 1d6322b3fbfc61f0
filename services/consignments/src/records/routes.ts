import { indexedPageOf, totalledBody, totalledListJson, type IndexedPage } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { Kind } from './kind.ts';
import type { WrittenPage } from './page.ts';
import { recordPath } from './schema.ts';
import { changeRecord, createRecord, getRecord } from './use-cases.ts';

/** The four operations that all records have. */
interface RecordApi<Query extends z.ZodObject> {
  /** Name of the list: its path, and the field that holds the items. */
  name: string;
  /** One record, in descriptions: `consignment`. */
  what: string;
  /** Suffix of operation ids: `Consignment`. */
  noun: string;
  tag: string;
  kind: Kind;
  record: z.ZodObject;
  query: Query;
  input: z.ZodType<object>;
  patch: z.ZodType<object>;
  /** The id of a record of the demo data, a new record and a change. */
  examples: { id: string; input: object; patch: object };
  list: (ctx: Context, filters: z.output<Query>, page: IndexedPage) => Promise<WrittenPage>;
}

/** Media types of a JSON merge patch (RFC 7396). */
const patchTypes = ['application/json', 'application/merge-patch+json'];

export const recordRoutes = <Query extends z.ZodObject>(ctx: Context, api: RecordApi<Query>): Route[] => {
  const { name, what, noun, tag, kind, record, examples } = api;
  const one = `/${name}/{id}`;
  const params = recordPath(examples.id);
  return [
    route(
      {
        method: 'get',
        path: `/${name}`,
        operationId: `list${noun}s`,
        tag,
        summary: `${tag}, newest first, with their exact total`,
        description: 'Parameter names are case-insensitive.',
        auth: ctx.reader,
        query: api.query,
        anyCaseQuery: true,
        responses: {
          200: {
            description: 'One page; empty past the end',
            body: totalledBody(name, record).meta({ id: `${noun}List` }),
          },
        },
      },
      async ({ query }) => {
        const filters = query as z.output<Query> & { PageIndex: number; PageSize: number };
        const page = indexedPageOf(filters);
        return { status: 200, rawBody: totalledListJson(name, page, await api.list(ctx, filters, page)) };
      },
    ),
    route(
      {
        method: 'post',
        path: `/${name}`,
        operationId: `create${noun}`,
        tag,
        summary: `Create a ${what}`,
        auth: ctx.writer,
        body: { schema: api.input, example: examples.input },
        responses: {
          201: {
            description: `The new ${what}`,
            body: record,
            headers: { Location: `Address of the ${what}` },
          },
        },
      },
      async ({ body }) => {
        const { id, json } = await createRecord(ctx, kind, body);
        return { status: 201, headers: { Location: `/v1/${name}/${id}` }, rawBody: json };
      },
    ),
    route(
      {
        method: 'get',
        path: one,
        operationId: `get${noun}`,
        tag,
        summary: `One ${what}`,
        auth: ctx.writer,
        params,
        responses: { 200: { description: `The ${what}`, body: record } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, rawBody: await getRecord(ctx, kind, what, params.id) }),
    ),
    route(
      {
        method: 'patch',
        path: one,
        operationId: `change${noun}`,
        tag,
        summary: `Change some fields of a ${what}`,
        description: 'A JSON merge patch (RFC 7396): absent fields keep their values, null clears a field.',
        auth: ctx.writer,
        params,
        body: { schema: api.patch, example: examples.patch, types: patchTypes },
        responses: { 200: { description: `The ${what}`, body: record } },
        problems: [404],
      },
      async ({ params, body }) => ({
        status: 200,
        rawBody: await changeRecord(ctx, kind, what, params.id, body),
      }),
    ),
  ];
};
