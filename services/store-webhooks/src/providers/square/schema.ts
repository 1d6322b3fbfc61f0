import { boundedList } from '@platform/service-kit/bounded-list';
import { z } from 'zod';
import type { MemberRecord } from '../pos-payloads.ts';
import { identifier, orNull, storableText } from '../payload-parsing.ts';

const state = orNull(storableText(100));

/** Names the order that changed. https://developer.squareup.com/reference/square/webhooks/order.updated */
export const orderUpdated = z
  .object({
    merchant_id: orNull(identifier()),
    type: orNull(storableText(100)),
    event_id: orNull(identifier()),
    created_at: orNull(storableText(100)),
    data: z.object({
      object: z.object({
        order_updated: z.object({ order_id: identifier(), state, version: orNull(z.int()) }),
      }),
    }),
  })
  .meta({ id: 'SquareOrderEvent', description: 'order.updated of Square' });

const currency = z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR');
/** Square's amounts are already in minor units. */
const money = orNull(z.object({ amount: z.int(), currency }));

const lineItem = z
  .object({
    catalog_object_id: orNull(identifier()),
    uid: orNull(identifier()),
    name: orNull(storableText(1000)),
    quantity: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,5})?$/, 'must be a number such as 2 or 0.25')
      .transform(Number),
    base_price_money: money,
    total_money: money,
  })
  .transform((item) => ({
    productId: item.catalog_object_id ?? item.uid,
    productName: item.name,
    quantity: item.quantity,
    price: item.base_price_money?.amount ?? null,
    totalPrice: item.total_money?.amount ?? null,
  }));

/** Answer of GET /v2/orders/{order_id}; `state` may be missing. */
export const orderAnswer = z.object({
  order: z.object({
    state,
    version: orNull(z.int()),
    reference_id: orNull(identifier()),
    customer_id: orNull(identifier()),
    line_items: boundedList(lineItem, 0, 2000).nullish(),
    total_money: money,
    total_tax_money: money,
    total_discount_money: money,
    total_service_charge_money: money,
  }),
});

const customer = z
  .object({
    id: identifier(),
    version: orNull(z.int()),
    email_address: storableText(500).nullish(),
    given_name: storableText(500).nullish(),
    family_name: storableText(500).nullish(),
    phone_number: storableText(100).nullish(),
  })
  .transform(({ id, version, ...profile }): MemberRecord => ({
    id,
    email: profile.email_address,
    firstName: profile.given_name,
    lastName: profile.family_name,
    phone: profile.phone_number,
    status: null,
    type: null,
    version,
  }));

/** https://developer.squareup.com/reference/square/webhooks/customer.updated */
export const customerEvent = z
  .object({ data: z.object({ object: z.object({ customer }) }) })
  .meta({ id: 'SquareCustomerEvent', description: 'customer.created or customer.updated of Square' });

/** Answer of GET /v2/customers/{customer_id}. */
export const customerAnswer = z.object({ customer });
