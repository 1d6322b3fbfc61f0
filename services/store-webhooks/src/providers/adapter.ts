import type { z } from 'zod';
import type { JobEvent, JobRecord, MemberRecord, OrderRecord, VerificationRecord } from './records.ts';
import type { ProviderReader } from './reader.ts';

export type Credentials = Record<string, string>;

/** What a store has set for one provider. */
export interface ProviderSettings {
  kind: string;
  baseUrl?: string | undefined;
  mapping?: Record<string, Record<string, string>> | undefined;
}

/** What of a request a provider's signature covers. */
export interface SignedRequest {
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
  /** The address as it was registered at the provider. */
  url: string;
  now: Date;
}

/** What an event is about, told at receipt from a body that nobody has checked. */
export interface Subject {
  /** Undefined: it does not say. */
  id?: string | undefined;
  /** The provider's own id of this delivery. */
  eventId?: string | undefined;
}

/** What an adapter may use while it maps: settings, credentials, and reading from the provider. */
export interface Connection {
  settings: ProviderSettings;
  credentials: Credentials;
  reader: ProviderReader;
}

interface CredentialShape {
  /**
   * The credentials and secrets that this provider uses, as a strict object of optional texts. Checked
   * when a store is created or changed. Messages must not quote the value. Unset: any names and texts.
   */
  credentials?: z.ZodType;
}

interface Adapter extends CredentialShape {
  kind: string;
  /** Header fields to keep with the event. */
  headers?: readonly string[];
  /**
   * Whether the signature is right. Undefined where the store has no secret for it.
   */
  signed?(request: SignedRequest, connection: Omit<Connection, 'reader'>): boolean | undefined;
}

export type PosEvent = 'order_updated' | 'new_member' | 'member_updated';

/** Nothing in it writes to the POS: a POS that hears of a change would send it back to us for ever. */
export interface PosAdapter extends Adapter {
  subject(event: PosEvent, body: unknown, settings: ProviderSettings): Subject;
  order(body: unknown, connection: Connection): Promise<OrderRecord>;
  member(body: unknown, connection: Connection): Promise<MemberRecord>;
  /** The member as the POS has it now; undefined where it can't be asked or knows none. */
  readMember(id: string, connection: Connection): Promise<MemberRecord | undefined>;
}

export interface DeliveryAdapter extends Adapter {
  subject(event: JobEvent, body: unknown): Subject;
  /** `event` is the address it came to; where the body says otherwise, that counts. */
  job(event: JobEvent, body: unknown): { event: JobEvent; job: JobRecord };
}

export interface IdentityAdapter extends Adapter {
  subject(body: unknown): Subject;
  verification(body: unknown, connection: Connection): Promise<VerificationRecord>;
  /** Whether it is a body in the provider's own shape, which names no service. */
  recognises(body: unknown): boolean;
}

export interface AuthenticationResult {
  transStatus: string | null;
  cavv: string | null;
  eci: string | null;
}

export interface ThreeDSAdapter extends CredentialShape {
  kind: string;
  /** What the 3DS server knows of a finished challenge. Rejects when it can't be asked. */
  result(threeDSServerTransID: string, connection: Connection): Promise<AuthenticationResult>;
}
