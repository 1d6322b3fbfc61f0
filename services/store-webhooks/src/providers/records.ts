/** Records that adapters map payloads to, if they differ from the payloads of the POS (see pos-payloads.ts). */

/** The personal fields of a member. */
export const profileFields = ['email', 'firstName', 'lastName', 'phone'] as const;

/** Texts of an order that this service only stores. */
export const orderTexts = ['memo', 'rewardName', 'publicKey', 'memberGroup', 'trackingStatus'] as const;

/** The life cycle of a job, in order. The last two end it without a delivery. */
export const jobStages = ['assigned', 'started', 'arrived', 'completed', 'cancelled', 'failed'] as const;

/** The stages that end a job. */
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
  /** When the stage was reached, in milliseconds since the epoch; null: the time of receipt. */
  at: number | null;
}

/** Version of a step before the decision; it never replaces a decision, even one without a time. */
export const undecided = 0;

export interface AuthenticationResult {
  /** EMV 3DS: Y, A, N, U, R or I is final; C, D and S are not. */
  transStatus: string | null;
  cavv: string | null;
  eci: string | null;
}
