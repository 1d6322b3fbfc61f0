import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import { fromMinor } from '../providers/money.ts';
import { amountFields } from '../providers/records.ts';
import { orders } from '../db/tables.ts';
import { declareList } from '../stores/lists.ts';

const amount = z.number().nullable();

const OrderView = z
  .object({
    id: z.string().meta({ description: 'The id that the POS gave' }),
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
      ...amountFields(() => amount),
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
  const { currency, amounts, items, promoCode, ...rest } = details;
  const decimal = (minor: number | null | undefined) => (minor == null ? null : fromMinor(minor, currency));
  return {
    ...row,
    ...rest,
    currency,
    cart: {
      ...amountFields((name) => decimal(amounts[name])),
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
  summary: 'The orders, most recently changed first',
  view: OrderView,
  show: showOrder,
  one: {
    noun: 'order',
    param: 'orderId',
    operationId: 'getOrder',
    summary: 'An order with its items',
    key: orders.id,
  },
});
