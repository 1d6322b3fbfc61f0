import type {
  JobRecord,
  JobStage,
  MemberRecord,
  OrderRecord,
  VerificationRecord,
} from '../providers/records.ts';

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

/** A change and the event that caused it. */
export interface Sourced<C extends Change = Change> {
  storeId: string;
  eventId: string;
  receivedAt: string;
  change: C;
}

/** The columns of a record that name the event which changed it. */
export const sourceOf = ({ storeId, eventId, receivedAt: updatedAt }: Sourced) => ({
  storeId,
  eventId,
  updatedAt,
});

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;
