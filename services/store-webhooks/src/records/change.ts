import type { MemberRecord, OrderRecord, VerificationRecord } from '../providers/pos-payloads.ts';
import type { JobRecord, JobStage } from '../providers/records.ts';

/** The result of processing an event. It is a value, so that it can be applied in a batch or only shown. */
export type Change =
  | { kind: 'order'; order: OrderRecord }
  | {
      kind: 'member';
      member: MemberRecord;
      /** Whether the notification reports a new member. */
      isNew: boolean;
      /** Whether a member without a user record is imported. */
      importsUnknown: boolean;
    }
  | { kind: 'job'; stage: JobStage; job: JobRecord }
  | { kind: 'verification'; service: string; completed: boolean; verification: VerificationRecord }
  /** There is nothing to apply, because planning has already done everything. */
  | { kind: 'none' };

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/** A change, and the event that caused it; the fields are named like the columns of a record. */
export interface EventChange<C extends Change = Change> {
  storeId: string;
  eventId: string;
  /** When the event was received. */
  updatedAt: string;
  change: C;
}
