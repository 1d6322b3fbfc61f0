import type {
  JobRecord,
  JobStage,
  MemberRecord,
  OrderRecord,
  VerificationRecord,
} from '../providers/records.ts';

/** What processing an event comes to: a value, so that it can be applied with others, or only shown. */
export type Change =
  | { kind: 'order'; order: OrderRecord }
  | {
      kind: 'member';
      member: MemberRecord;
      /** What the notification log says. */
      isNew: boolean;
      /** Whether a member nobody knows as a user is to be imported. */
      importsUnknown: boolean;
    }
  | { kind: 'job'; stage: JobStage; job: JobRecord }
  | { kind: 'verification'; service: string; completed: boolean; verification: VerificationRecord }
  /** Everything was done while it was looked at. */
  | { kind: 'none' };

/** A change and where it comes from. */
export interface Sourced<C extends Change = Change> {
  storeId: string;
  eventId: string;
  receivedAt: string;
  change: C;
}

export type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/** Something to be told, once for each key. */
export interface Notice {
  storeId: string;
  key: string;
  kind: 'order' | 'member' | 'delivery' | 'verification';
  audience: 'customer' | 'store';
  subject: string;
  /** Id of the order, member, job or verification. */
  reference: string;
  consumerId: string | null;
  eventId: string;
}
