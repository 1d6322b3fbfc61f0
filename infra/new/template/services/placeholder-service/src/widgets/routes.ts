import { pageList, pageOf } from '@platform/pagination/page-limit';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { Widget, WidgetInput, WidgetList, WidgetPath, WidgetQuery } from './schema.ts';
import { createWidget, getWidget, listWidgets } from './use-cases.ts';

type Row = Awaited<ReturnType<typeof getWidget>>;

const toWire = ({ createdAt, ...widget }: Row) => ({ ...widget, createdAt: createdAt.toISOString() });

const tag = 'Widgets';

export const widgetRoutes = (ctx: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/widgets',
      operationId: 'listWidgets',
      tag,
      summary: 'Widgets, newest first',
      caller: ctx.reader,
      query: WidgetQuery,
      responses: { 200: { description: 'A page of widgets', body: WidgetList } },
    },
    async ({ query }) => {
      const page = pageOf(query);
      const { items, hasMore } = await listWidgets(ctx, page);
      return { status: 200, body: pageList('widgets', page, { items: items.map(toWire), hasMore }) };
    },
  ),
  route(
    {
      method: 'post',
      path: '/widgets',
      operationId: 'createWidget',
      tag,
      summary: 'Create one widget',
      caller: ctx.writer,
      body: { schema: WidgetInput, example: { name: 'Mine' } },
      responses: {
        201: { description: 'The new widget', body: Widget, headers: { Location: 'Its address' } },
      },
    },
    async ({ body }) => {
      const widget = await createWidget(ctx, body);
      return { status: 201, headers: { Location: `/v1/widgets/${widget.widgetId}` }, body: toWire(widget) };
    },
  ),
  route(
    {
      method: 'get',
      path: '/widgets/{widgetId}',
      operationId: 'getWidget',
      tag,
      summary: 'One widget',
      caller: ctx.reader,
      params: WidgetPath,
      responses: { 200: { description: 'The widget', body: Widget } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: toWire(await getWidget(ctx, params.widgetId)) }),
  ),
];
