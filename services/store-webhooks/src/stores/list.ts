import { pageLimitBody, pageLimitQuery, pageList, pageOf, type Page } from '@platform/pagination/page-limit';
import type { Slice } from '@platform/pagination/slice';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeId } from './routes.ts';

interface ListOf<Row, Item extends z.ZodType> {
  /** Of the array, such as `deliveryJobs`. */
  name: string;
  /** Last part of the path, such as `delivery-jobs`. */
  path: string;
  tag: string;
  summary: string;
  item: Item;
  page(context: Context, storeId: string, page: Page): Promise<Slice<Row>>;
  show(row: Row): z.input<Item>;
}

/** `GET /v1/stores/{id}/<path>`: something a store has, in pages. */
export const storeList = <Row, Item extends z.ZodType>(
  context: Context,
  { name, path, tag, summary, item, page: read, show }: ListOf<Row, Item>,
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
      const page = pageOf(query);
      const { items, hasMore } = await read(context, params.id, page);
      return { status: 200, body: pageList(name, page, { items: items.map(show), hasMore }) as never };
    },
  );
