import { NotFound } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Fragment } from '../db/sql.ts';
import { fromMinor } from '../providers/money.ts';
import { amountNames, type OrderRecord } from '../providers/records.ts';
import { storeList } from '../stores/list.ts';
import { isoOf } from '../time.ts';

const amount = z.number().nullable();

const OrderView = z
  .object({
    id: z.string().meta({ description: "The POS's" }),
    orderNo: z.string().nullable(),
    status: z.string(),
    consumerId: z.string().nullable(),
    memo: z.string().nullable(),
    rewardName: z.string().nullable(),
    publicKey: z.string().nullable(),
    memberGroup: z.string().nullable(),
    trackingStatus: z.string().nullable(),
    currency: z.string(),
    cart: z.object({
      ...(Object.fromEntries(amountNames.map((name) => [name, amount])) as Record<
        (typeof amountNames)[number],
        typeof amount
      >),
      promoCode: z.string().nullable(),
      items: z.array(
        z.object({
          productId: z.string().nullable(),
          productName: z.string().nullable(),
          quantity: z.number(),
          price: amount,
          totalPrice: amount,
        }),
      ),
    }),
    updatedAt: instant(),
  })
  .meta({ id: 'Order' });

interface OrderRow {
  id: string;
  status: string;
  consumerId: string | null;
  details: OrderRecord['details'];
  updatedAt: Date | string;
}

const show = ({ id, status, consumerId, details, updatedAt }: OrderRow): z.input<typeof OrderView> => {
  const { currency, amounts, items, promoCode, ...rest } = details;
  const decimal = (minor: number | null | undefined) => (minor == null ? null : fromMinor(minor, currency));
  const shown = amountNames.map((name) => [name, decimal(amounts[name])]);
  return {
    id,
    status,
    consumerId,
    ...rest,
    currency,
    cart: {
      ...(Object.fromEntries(shown) as Record<(typeof amountNames)[number], number | null>),
      promoCode,
      items: items.map((item) => ({
        ...item,
        price: decimal(item.price),
        totalPrice: decimal(item.totalPrice),
      })),
    },
    updatedAt: isoOf(updatedAt),
  };
};

export const orderRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  const select = (where: Fragment) => sql`
    select id, status, consumer_id as "consumerId", details, updated_at as "updatedAt" from orders where ${where}`;
  return [
    storeList<OrderRow, typeof OrderView>(context, {
      name: 'orders',
      path: 'orders',
      tag: 'Orders',
      summary: 'The orders, the last changed first',
      item: OrderView,
      rows: (store) => sql`${select(sql`store_id = ${store}`)} order by event_id desc`,
      show,
    }),
    route(
      {
        method: 'get',
        path: '/v1/stores/{id}/orders/{orderId}',
        operationId: 'getOrder',
        tag: 'Orders',
        summary: 'An order with its items',
        caller: context.verifier.guard('stores:admin'),
        params: z.strictObject({ id: z.uuid(), orderId: z.string().max(200) }),
        responses: { 200: { description: 'The order', body: OrderView } },
        problems: [404],
      },
      async ({ params }) => {
        const [row] = await sql<
          OrderRow[]
        >`${select(sql`store_id = ${params.id} and id = ${params.orderId}`)}`;
        if (row === undefined) throw new NotFound('order');
        return { status: 200, body: show(row) };
      },
    ),
  ];
};
