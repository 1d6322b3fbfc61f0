import { z } from 'zod';
import { amountFields } from '../records.ts';
import { identifier, isoTime, maybe, words } from '../shape.ts';

const amount = maybe(z.coerce.number().min(-1e12).max(1e12));

/** A time or a counter: whatever grows with each change. */
const version = maybe(z.union([z.int(), isoTime()]));

export const order = z.object({
  id: identifier(),
  status: words(100),
  orderNo: maybe(identifier()),
  consumerId: maybe(identifier()),
  memo: maybe(words(10_000)),
  trackingStatus: maybe(words()),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .nullish(),
  version,
  promoCode: maybe(words()),
  ...amountFields(amount),
});

export const item = z.object({
  productId: maybe(identifier()),
  productName: maybe(words()),
  quantity: z.coerce.number().min(-1e9).max(1e9),
  price: amount,
  totalPrice: amount,
});

export const member = z.object({
  id: identifier(),
  version,
  email: words().nullish(),
  firstName: words().nullish(),
  lastName: words().nullish(),
  phone: words().nullish(),
  status: maybe(words()),
  type: maybe(words()),
});
