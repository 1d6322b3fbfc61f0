import { boundedList } from '@platform/service-kit/bounded-list';
import { z } from 'zod';
import { amountNames, toMinor } from './money.ts';
import { profileFields } from './records.ts';
import {
  pointersTo,
  epoch,
  identifier,
  orNull,
  location,
  storable,
  storableText,
  fieldsOf,
} from './payload-parsing.ts';

/** Payloads of the point of sale (docs/contracts/store-webhooks.md). Fields beyond them are accepted and ignored. */

const amount = orNull(z.number().min(-1e12).max(1e12));

/** An item of an order. */
export const item = z.object({
  productId: orNull(identifier()),
  productName: orNull(storableText()),
  quantity: z.number().min(-1e9).max(1e9),
  price: amount,
  totalPrice: amount,
});

export const cart = z.object({
  ...fieldsOf(amountNames, () => amount),
  promoCode: orNull(storableText()),
  items: boundedList(item, 0, 2000).default([]),
});

/** An example order, which the demo shop accepts. */
export const demoOrder = {
  id: 'demo-order-1',
  orderNo: '1001',
  status: 'PENDING',
  consumerId: 'demo-member-1',
  cart: {
    total: 25,
    items: [{ productId: 'p-1', productName: 'Tea', quantity: 2, price: 12.5, totalPrice: 25 }],
  },
};

export const order = z
  .object({
    id: identifier(),
    orderNo: orNull(identifier()),
    status: storableText(100).meta({ description: 'The status, such as PENDING, COMPLETED or CANCELLED' }),
    consumerId: orNull(identifier()).meta({ description: 'The member who ordered' }),
    memo: orNull(storableText(10_000)),
    rewardName: orNull(storableText()),
    publicKey: orNull(storableText()).meta({ description: 'The public identifier of the cart' }),
    memberGroup: orNull(storableText()),
    trackingStatus: orNull(storableText()),
    modified: orNull(z.int()).meta({
      description: 'Time of the change in ms; not in the contract, optional',
    }),
    cart: orNull(cart),
  })
  .meta({
    id: 'OrderPayload',
    description: 'An order of the POS',
    examples: [demoOrder],
  });

/** Amounts become minor units of `currency`; the payload names none. */
export const toOrderRecord = (
  { id, status, consumerId, modified, cart: sentCart, ...otherFields }: z.output<typeof order>,
  currency: string,
) => {
  const { items, promoCode, ...amounts } = sentCart ?? cart.parse({});
  const minor = (value: number | null) => (value === null ? null : toMinor(value, currency));
  return {
    id,
    status,
    consumerId,
    /** Grows with each change at the POS: a time in ms or a counter. Null if the POS sends none. */
    version: modified,
    details: {
      ...otherFields,
      currency,
      promoCode,
      amounts: fieldsOf(amountNames, (name) => minor(amounts[name])),
      items: items.map((line) => ({ ...line, price: minor(line.price), totalPrice: minor(line.totalPrice) })),
    },
  };
};

/** An order of any POS. */
export type OrderRecord = ReturnType<typeof toOrderRecord>;

export const member = z
  .object({
    id: identifier(),
    modified: orNull(z.int()).meta({ description: 'Time of the change in ms' }),
    // Long, because a field with many addresses must be readable: it means that the POS no longer has the former address.
    ...fieldsOf(profileFields, (name) => storableText(name === 'email' ? 2000 : 500).nullish()),
    status: orNull(storableText()),
    type: orNull(storableText()),
  })
  .transform(({ modified, ...fields }) => ({ ...fields, version: modified }))
  .meta({
    id: 'MemberPayload',
    description: 'A member of the POS',
    examples: [{ id: 'm-1', modified: 1_700_000_000_000, email: 'ann@example.test', status: 'ACTIVE' }],
  });

/** A member of any POS. Undefined: the field was not sent. Null: it was sent empty. */
export type MemberRecord = z.output<typeof member>;

export const job = z
  .object({
    id: identifier(),
    orderId: orNull(identifier()),
    driverId: orNull(identifier()),
    status: orNull(storableText()),
    estimatedArrival: orNull(epoch()),
    driverLocation: orNull(location()),
    updatedAt: orNull(epoch()).meta({ description: 'Time of the step in ms; not in the contract, optional' }),
  })
  .meta({
    id: 'DeliveryJobPayload',
    description: 'A delivery job of the POS',
    examples: [
      {
        id: 'j-1',
        orderId: 'o-1',
        driverId: 'd-1',
        status: 'ASSIGNED',
        driverLocation: { lat: 37.8, lng: -122.4 },
      },
    ],
  });

/** The fields that a store's own relay sends for any identity provider. */
export const relayedVerification = z
  .object({
    service: storableText(100).meta({ description: 'The provider, such as persona' }),
    transactionId: identifier(),
    status: storable(z.string().min(1).max(100)),
    userId: orNull(identifier()),
    updatedAt: orNull(epoch()),
  })
  .transform(({ transactionId, status, userId, updatedAt }) => ({
    transactionId,
    status,
    userId,
    /** Milliseconds since the epoch, or `undecided`. Null: the order of receipt decides. */
    version: updatedAt,
  }))
  .meta({
    id: 'VerificationPayload',
    description: 'An identity verification of any provider',
    examples: [{ service: 'persona', transactionId: 't-1', status: 'PENDING_REVIEW', userId: 'u-1' }],
  });

/** A verification of any provider. */
export type VerificationRecord = z.output<typeof relayedVerification>;

export const unmaskedVerificationFields = pointersTo('', 'service transactionId status userId updatedAt');
