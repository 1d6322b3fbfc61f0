import { pageList, pageOf } from '@platform/pagination/page-limit';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { Item, ItemInput, ItemList, ItemPath, ItemQuery } from './schema.ts';
import { createItem, getItem, listItems } from './use-cases.ts';

type Row = Awaited<ReturnType<typeof getItem>>;

const toWire = ({ createdAt, ...item }: Row) => ({ ...item, createdAt: createdAt.toISOString() });

const tag = 'Items';

export const itemRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/items',
      operationId: 'listItems',
      tag,
      summary: 'Items, newest first',
      caller: ctx.reader,
      query: ItemQuery,
      responses: { 200: { description: 'A page of items', body: ItemList } },
    },
    async ({ query }) => {
      const page = pageOf(query);
      const { items, hasMore } = await listItems(ctx, page);
      return { status: 200, body: pageList('items', page, { items: items.map(toWire), hasMore }) };
    },
  ),
  route(
    {
      method: 'post',
      path: '/items',
      operationId: 'createItem',
      tag,
      summary: 'Create one item',
      caller: ctx.writer,
      body: { schema: ItemInput, example: { name: 'Mine' } },
      responses: { 201: { description: 'The new item', body: Item, headers: { Location: 'Its address' } } },
    },
    async ({ body }) => {
      const item = await createItem(ctx, body);
      return { status: 201, headers: { Location: `/v1/items/${item.itemId}` }, body: toWire(item) };
    },
  ),
  route(
    {
      method: 'get',
      path: '/items/{itemId}',
      operationId: 'getItem',
      tag,
      summary: 'One item',
      caller: ctx.reader,
      params: ItemPath,
      responses: { 200: { description: 'The item', body: Item } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: toWire(await getItem(ctx, params.itemId)) }),
  ),
];
