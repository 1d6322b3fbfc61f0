import type { Amounts } from './money.ts';

/** The records that every adapter maps its provider's payloads to. */

/** What a POS says of a person: personal data. */
export const profileFields = ['email', 'firstName', 'lastName', 'phone'] as const;

/** A person as a POS describes them. Undefined: the payload has no such field; null: the field is empty. */
export type Profile = { [Field in (typeof profileFields)[number]]?: string | null | undefined };

/** Texts of an order without a meaning here. */
export const orderTexts = ['memo', 'rewardName', 'publicKey', 'memberGroup', 'trackingStatus'] as const;

/** Amounts are whole minor units of the order's currency. */
export interface OrderItem {
  productId: string | null;
  productName: string | null;
  quantity: number;
  price: number | null;
  totalPrice: number | null;
}

export interface OrderRecord {
  id: string;
  status: string;
  consumerId: string | null;
  /** Grows with each change at the POS: a time in ms or a counter. Null when the POS sends none. */
  version: number | null;
  details: Record<(typeof orderTexts)[number], string | null> & {
    orderNo: string | null;
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

/** The life cycle of a job, in order. The last two end it without a delivery. */
export const jobStages = ['assigned', 'started', 'arrived', 'completed', 'cancelled', 'failed'] as const;

/** The stages after which no other follows. */
export const finalStages = ['completed', 'cancelled', 'failed'] as const;

export type JobStage = (typeof jobStages)[number];

export interface JobRecord {
  id: string;
  orderId: string | null;
  status: string | null;
  driverId: string | null;
  driver: { name?: string | null; phone?: string | null; lat?: number | null; lng?: number | null } | null;
  /** Milliseconds since the epoch. */
  estimatedArrival: number | null;
  /** When it happened, in milliseconds since the epoch; null: when it was received. */
  at: number | null;
}

/** Version of a step before the decision; it never replaces a decision, even one without a time. */
export const undecided = 0;

export interface VerificationRecord {
  transactionId: string;
  status: string;
  userId: string | null;
  /** Milliseconds since the epoch, or `undecided`. Null: order of receipt. */
  version: number | null;
}

export interface AuthenticationResult {
  /** EMV 3DS: Y, A, N, U, R or I is final; C, D and S are not. */
  transStatus: string | null;
  cavv: string | null;
  eci: string | null;
}
