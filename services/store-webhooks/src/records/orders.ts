import { sql } from 'drizzle-orm';
import { instant } from '@platform/service-kit/text';
import type { ISql } from 'postgres';
import { z } from 'zod';
import { orderNo, orders } from '../db/tables.ts';
import { createUpsert, isNewer, newOrStored } from '../db/sql.ts';
import type { Notice } from '../notifications/notice.ts';
import { releaseDeliveryMails } from '../notifications/release-mails.ts';
import { amountNames, fromMinor } from '../providers/money.ts';
import { fieldsOf } from '../providers/payload-parsing.ts';
import { orderTexts } from '../providers/records.ts';
import type { ChangeOf, EventChange } from './change.ts';
import { unindexed, exactly, updatedAfter, withText } from './filters.ts';
import { declareList } from './list.ts';
import { posId, storeOfRow } from './view.ts';

const amount = z.number().nullable();

const OrderView = z
  .object({
    storeId: storeOfRow,
    id: z.string().meta({ description: posId }),
    orderNo: z.string().nullable(),
    status: z.string(),
    consumerId: z.string().nullable(),
    ...fieldsOf(orderTexts, () => z.string().nullable()),
    currency: z.string(),
    cart: z.object({
      ...fieldsOf(amountNames, () => amount),
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

/** Amounts are shown as decimal numbers, as in the payloads of a POS. */
const showOrder = ({ details, ...row }: typeof orders.$inferSelect): z.input<typeof OrderView> => {
  const { currency, amounts, items, promoCode, ...texts } = details;
  const decimal = (minor: number | null | undefined) => (minor == null ? null : fromMinor(minor, currency));
  return {
    ...row,
    ...texts,
    currency,
    cart: {
      ...fieldsOf(amountNames, (name) => decimal(amounts[name])),
      promoCode,
      items: items.map((item) => ({
        ...item,
        price: decimal(item.price),
        totalPrice: decimal(item.totalPrice),
      })),
    },
  };
};

export const orderList = declareList({
  table: orders,
  latest: orders.eventId,
  name: 'orders',
  tag: 'Orders',
  summary: 'Orders, last changed first',
  view: OrderView,
  show: showOrder,
  // Exact and cheap, because the column is not compressed.
  bytes: sql<number>`pg_column_size(${orders.details})`,
  filters: {
    id: exactly(orders.id, posId),
    orderNo: exactly(orderNo, 'The number that customers see'),
    status: unindexed(orders.status, 'In the words of the POS'),
    consumerId: exactly(orders.consumerId, 'POS id of the member who ordered'),
    updatedAfter: updatedAfter(orders),
    text: withText(
      'A part of the order number, the note, the promo code or the name of an item',
      "details ->> 'orderNo'",
      "details ->> 'memo'",
      "details ->> 'promoCode'",
      "(select string_agg(item ->> 'productName', E'\\x1f') from jsonb_array_elements(details -> 'items') as item)",
    ),
  },
  single: {
    name: 'order',
    key: { orderId: 'id' },
    summary: 'An order with its items',
  },
});

const upsert = createUpsert(orders, { merged: { version: newOrStored }, where: isNewer });

interface Applied {
  storeId: string;
  id: string;
  consumerId: string | null;
  previousStatus: string | null;
  status: string;
  eventId: string;
  orderNo: string | null;
}

/**
 * Replaces orders together with their items; an older version never replaces a newer one. Mails of deliveries that arrived
 * before their order become due.
 */
export const applyOrders = async (
  sql: ISql,
  changes: readonly EventChange<ChangeOf<'order'>>[],
): Promise<Notice[]> => {
  const rows = changes.map(({ change, ...source }) => ({ ...change.order, ...source }));
  const applied = await sql<Applied[]>`
    with applied as (
      ${upsert(sql, rows)}
      returning new.store_id as "storeId", new.id, new.consumer_id as "consumerId", old.status as "previousStatus",
        new.status, new.event_id as "eventId", new.details ->> 'orderNo' as "orderNo"),
    released as (${releaseDeliveryMails(sql)})
    select * from applied`;
  return applied
    .filter(({ previousStatus, status }) => previousStatus !== status)
    .map(({ previousStatus: _previous, status, id, ...order }) => ({
      ...order,
      key: `order:${id}:${order.eventId}`,
      kind: 'order',
      audience: 'customer',
      change: status,
      reference: id,
    }));
};
