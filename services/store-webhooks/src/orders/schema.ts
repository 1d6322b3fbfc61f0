import { instant } from '@platform/service-kit/text';
import { z } from 'zod';
import type { orders } from '../db/tables.ts';
import { fromMinor } from '../providers/money.ts';
import { amountNames } from '../providers/records.ts';

const amount = z.number().nullable();

export const OrderView = z
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

/** An order as the interface shows it: amounts as decimal numbers, as in the payloads of a POS. */
export const showOrder = ({ details, ...row }: typeof orders.$inferSelect): z.input<typeof OrderView> => {
  const { currency, amounts, items, promoCode, ...rest } = details;
  const decimal = (minor: number | null | undefined) => (minor == null ? null : fromMinor(minor, currency));
  const shown = amountNames.map((name) => [name, decimal(amounts[name])]);
  return {
    ...row,
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
  };
};
