import type { z } from 'zod';
import type { MemberRecord, OrderRecord } from '../records.ts';
import type { customer, orderAnswer } from './schema.ts';

type Money = { amount: number } | null;

/** Square's amounts are minor units already. */
const minor = (money: Money): number | null => money?.amount ?? null;

export const toOrder = ({ order }: z.output<typeof orderAnswer>): OrderRecord => ({
  id: order.id,
  status: order.state,
  consumerId: order.customer_id,
  version: order.version,
  details: {
    orderNo: order.reference_id,
    memo: null,
    rewardName: null,
    publicKey: null,
    memberGroup: null,
    trackingStatus: null,
    currency: order.total_money?.currency ?? 'USD',
    promoCode: null,
    amounts: {
      total: minor(order.total_money),
      taxTotal: minor(order.total_tax_money),
      totalDiscount: minor(order.total_discount_money),
      deliveryFee: minor(order.total_service_charge_money),
    },
    items: (order.line_items ?? []).map((item) => ({
      productId: item.catalog_object_id ?? item.uid,
      productName: item.name,
      quantity: Number(item.quantity),
      price: minor(item.base_price_money),
      totalPrice: minor(item.total_money),
    })),
  },
});

export const toMember = (from: z.output<typeof customer>): MemberRecord => ({
  id: from.id,
  email: from.email_address,
  firstName: from.given_name,
  lastName: from.family_name,
  phone: from.phone_number,
  status: null,
  type: null,
  version: from.version,
});
