import { pageList, pageOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { SparePart, SparePartInput, SparePartList, SparePartPath, SparePartQuery } from './schema.ts';
import { createSparePart, getSparePart, listSpareParts } from './use-cases.ts';

type Row = Awaited<ReturnType<typeof getSparePart>>;

const toWire = ({ createdAt, ...sparePart }: Row) => ({ ...sparePart, createdAt: createdAt.toISOString() });

const tag = 'Spare parts';

export const sparePartRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/spare-parts',
      operationId: 'listSpareParts',
      tag,
      summary: 'Spare parts, newest first',
      auth: ctx.reader,
      query: SparePartQuery,
      responses: { 200: { description: 'A page of spare parts', body: SparePartList } },
    },
    async ({ query }) => {
      const page = pageOf(query);
      const { items, hasMore } = await listSpareParts(ctx, page);
      return { status: 200, body: pageList('spareParts', page, { items: items.map(toWire), hasMore }) };
    },
  ),
  route(
    {
      method: 'post',
      path: '/spare-parts',
      operationId: 'createSparePart',
      tag,
      summary: 'Create one spare part',
      auth: ctx.writer,
      body: { schema: SparePartInput, example: { name: 'Mine' } },
      responses: {
        201: { description: 'The new spare part', body: SparePart, headers: { Location: 'Its address' } },
      },
    },
    async ({ body }) => {
      const sparePart = await createSparePart(ctx, body);
      return {
        status: 201,
        headers: { Location: `/v1/spare-parts/${sparePart.sparePartId}` },
        body: toWire(sparePart),
      };
    },
  ),
  route(
    {
      method: 'get',
      path: '/spare-parts/{sparePartId}',
      operationId: 'getSparePart',
      tag,
      summary: 'One spare part',
      auth: ctx.reader,
      params: SparePartPath,
      responses: { 200: { description: 'The spare part', body: SparePart } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: toWire(await getSparePart(ctx, params.sparePartId)) }),
  ),
];
