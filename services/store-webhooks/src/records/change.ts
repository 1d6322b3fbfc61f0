import type { MemberRecord, OrderRecord, VerificationRecord } from '../providers/pos-payloads.ts';
import type { JobRecord, JobStage } from '../providers/records.ts';

/** The result of processing an event: a value, so that it can be applied with others or only shown. */
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
  /** Nothing remains to be applied: planning has already done everything. */
  | { kind: 'none' };

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/** A change, and the event that caused it, as the columns of a record name it. */
export interface EventChange<C extends Change = Change> {
  storeId: string;
  eventId: string;
  /** When the event was received. */
  updatedAt: string;
  change: C;
}
