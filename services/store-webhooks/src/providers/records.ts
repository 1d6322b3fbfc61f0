import type { Profile } from './profile.ts';

/** Shapes that every adapter maps its provider's payloads to. */

/** Amounts are whole minor units of the order's currency. */
export interface OrderItem {
  productId: string | null;
  productName: string | null;
  quantity: number;
  price: number | null;
  totalPrice: number | null;
}

export const amountNames = [
  'subTotal',
  'discount',
  'totalDiscount',
  'deliveryFee',
  'creditCardFee',
  'total',
  'taxTotal',
  'totalCalcTax',
] as const;

export type Amounts = Partial<Record<(typeof amountNames)[number], number | null>>;

export interface OrderRecord {
  id: string;
  status: string;
  consumerId: string | null;
  /** Grows with each change at the POS: a time in ms or a counter. Null where the POS tells none. */
  version: number | null;
  details: {
    orderNo: string | null;
    memo: string | null;
    rewardName: string | null;
    publicKey: string | null;
    memberGroup: string | null;
    trackingStatus: string | null;
    /** ISO 4217. */
    currency: string;
    promoCode: string | null;
    amounts: Amounts;
    items: OrderItem[];
  };
}

export interface MemberRecord extends Profile {
  id: string;
  status: string | null;
  type: string | null;
  version: number | null;
}

export const jobPositions = {
  job_assigned: 1,
  job_started: 2,
  job_arrived: 3,
  job_completed: 4,
} as const;

export type JobEvent = keyof typeof jobPositions;

export interface JobRecord {
  id: string;
  orderId: string | null;
  status: string | null;
  driverId: string | null;
  driver: { name?: string | null; phone?: string | null; lat?: number | null; lng?: number | null } | null;
  /** Milliseconds since the epoch. */
  estimatedArrival: number | null;
  /** When it happened; null: as received. */
  at: number | null;
}

export interface VerificationRecord {
  transactionId: string;
  status: string;
  userId: string | null;
  /** Milliseconds since the epoch. */
  version: number | null;
}
