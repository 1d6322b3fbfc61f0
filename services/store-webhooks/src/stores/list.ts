import { pageLimitBody, pageLimitQuery, pageList, pageOf } from '@platform/pagination/page-limit';
import { slice } from '@platform/pagination/slice';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Fragment } from '../db/sql.ts';
import { storeId } from './routes.ts';
import { requireStore } from './use-cases.ts';

interface ListOf<Row extends object, Item extends z.ZodType> {
  /** Of the array, such as `deliveryJobs`. */
  name: string;
  /** Last part of the path, such as `delivery-jobs`. */
  path: string;
  tag: string;
  summary: string;
  item: Item;
  /** Rows of a store in a stable order. */
  rows(storeId: string): Fragment;
  show(row: Row): z.input<Item>;
}

/** `GET /v1/stores/{id}/<path>`: something a store has, in pages. */
export const storeList = <Row extends object, Item extends z.ZodType>(
  context: Context,
  { name, path, tag, summary, item, rows, show }: ListOf<Row, Item>,
): Route =>
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
      responses: { 200: { description: 'A page', body: pageLimitBody(name, item) } },
      problems: [404],
    },
    async ({ params, query }) => {
      await requireStore(context, params.id);
      const page = pageOf(query);
      const { sql } = context.database;
      const found = await sql<Row[]>`
        ${rows(params.id)} offset ${String(page.offset)} limit ${page.limit + 1}`;
      const { items, hasMore } = slice(found, page.limit);
      return { status: 200, body: pageList(name, page, { items: items.map(show), hasMore }) as never };
    },
  );
