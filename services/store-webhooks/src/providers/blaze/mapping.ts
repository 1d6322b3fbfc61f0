import type { z } from 'zod';
import { toMinor } from '../money.ts';
import { amountNames, type Amounts, type MemberRecord, type OrderRecord } from '../records.ts';
import { cart, type member, type order } from './schema.ts';

/** Blaze serves shops in the United States; its payloads name no currency. */
const currency = 'USD';

const minor = (amount: number | null): number | null => (amount === null ? null : toMinor(amount, currency));

const amountsOf = (from: z.output<typeof cart>): Amounts =>
  Object.fromEntries(amountNames.map((name) => [name, minor(from[name])]));

export const toOrder = (
  { id, status, consumerId, modified, cart: given, ...rest }: z.output<typeof order>,
  looked?: z.output<typeof cart>,
): OrderRecord => {
  const basket = given ?? looked ?? cart.parse({});
  const { orderNo, memo, rewardName, publicKey, memberGroup, trackingStatus } = rest;
  return {
    id,
    status,
    consumerId,
    version: modified,
    details: {
      orderNo,
      memo,
      rewardName,
      publicKey,
      memberGroup,
      trackingStatus,
      currency,
      promoCode: basket.promoCode,
      amounts: amountsOf(basket),
      items: basket.items.map(({ productId, productName, quantity, price, totalPrice }) => ({
        productId,
        productName,
        quantity,
        price: minor(price),
        totalPrice: minor(totalPrice),
      })),
    },
  };
};

export const toMember = (from: z.output<typeof member>): MemberRecord => {
  const { id, email, firstName, lastName, phone, status, type, modified } = from;
  return { id, email, firstName, lastName, phone, status, type, version: modified };
};
