import { z } from 'zod';
import { identifier, maybe, words } from '../shape.ts';

/** https://developer.squareup.com/reference/square/webhooks/order.updated: says what changed, not how. */
export const orderUpdated = z.looseObject({
  data: z.looseObject({
    object: z.looseObject({
      order_updated: z.looseObject({ order_id: identifier() }),
    }),
  }),
});

const money = maybe(z.looseObject({ amount: z.int(), currency: z.string().regex(/^[A-Z]{3}$/) }));

const lineItem = z.looseObject({
  catalog_object_id: maybe(identifier()),
  uid: maybe(identifier()),
  name: maybe(words(1000)),
  quantity: z.string().regex(/^\d{1,9}(\.\d{1,5})?$/),
  base_price_money: money,
  total_money: money,
});

/** Answer of GET /v2/orders/{order_id}. */
export const orderAnswer = z.looseObject({
  order: z.looseObject({
    id: identifier(),
    state: words(100),
    version: maybe(z.int()),
    reference_id: maybe(identifier()),
    customer_id: maybe(identifier()),
    line_items: z.array(lineItem).max(2000).nullish(),
    total_money: money,
    total_tax_money: money,
    total_discount_money: money,
    total_service_charge_money: money,
  }),
});

export const customer = z.looseObject({
  id: identifier(),
  version: maybe(z.int()),
  email_address: words(500).nullish(),
  given_name: words(500).nullish(),
  family_name: words(500).nullish(),
  phone_number: words(100).nullish(),
});

/** https://developer.squareup.com/reference/square/webhooks/customer.updated */
export const customerEvent = z.looseObject({
  data: z.looseObject({ object: z.looseObject({ customer }) }),
});

/** Answer of GET /v2/customers/{customer_id}. */
export const customerAnswer = z.looseObject({ customer });
