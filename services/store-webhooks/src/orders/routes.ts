import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { OrderView, showOrder } from './schema.ts';
import { getOrder, pageOfOrders } from './use-cases.ts';

export const orderRoutes = (context: Context): Route[] => [
  storeList(context, {
    name: 'orders',
    path: 'orders',
    tag: 'Orders',
    summary: 'The orders, the last changed first',
    item: OrderView,
    page: pageOfOrders,
    show: showOrder,
  }),
  route(
    {
      method: 'get',
      path: '/v1/stores/{id}/orders/{orderId}',
      operationId: 'getOrder',
      tag: 'Orders',
      summary: 'An order with its items',
      caller: context.verifier.guard('stores:admin'),
      params: z.strictObject({ id: z.uuid(), orderId: text(1, 200) }),
      responses: { 200: { description: 'The order', body: OrderView } },
      problems: [404],
    },
    async ({ params }) => ({
      status: 200,
      body: showOrder(await getOrder(context, params.id, params.orderId)),
    }),
  ),
];
