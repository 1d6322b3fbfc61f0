import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

const amount = z.number().min(-1e12).max(1e12);

const item = z.looseObject({
  productId: maybe(identifier()),
  productName: maybe(words()),
  quantity: z.number().min(-1e9).max(1e9),
  price: maybe(amount),
  totalPrice: maybe(amount),
});

export const cart = z.looseObject({
  subTotal: maybe(amount),
  discount: maybe(amount),
  totalDiscount: maybe(amount),
  deliveryFee: maybe(amount),
  creditCardFee: maybe(amount),
  total: maybe(amount),
  taxTotal: maybe(amount),
  totalCalcTax: maybe(amount),
  promoCode: maybe(words()),
  items: z.array(item).max(2000).default([]),
});

/** Seed 001 part A, order payload. `modified` is not shown there; where it comes it orders the events. */
export const order = z.looseObject({
  id: identifier(),
  status: words(100),
  orderNo: maybe(identifier()),
  consumerId: maybe(identifier()),
  memo: maybe(words(10_000)),
  rewardName: maybe(words()),
  publicKey: maybe(words()),
  memberGroup: maybe(words()),
  trackingStatus: maybe(words()),
  modified: maybe(z.int()),
  cart: maybe(cart),
});

/** Seed 001 part A, member payload. */
export const member = z.looseObject({
  id: identifier(),
  modified: maybe(z.int()),
  email: words().nullish(),
  firstName: words().nullish(),
  lastName: words().nullish(),
  phone: words().nullish(),
  status: maybe(words()),
  type: maybe(words()),
});
