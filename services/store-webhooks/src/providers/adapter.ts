import type { z } from 'zod';
import type { ProviderReader } from './reader.ts';
import type { MemberRecord, OrderRecord, VerificationRecord } from './pos-payloads.ts';
import type { JobRecord, JobStage } from './records.ts';

export type Credentials = Record<string, string>;

/** The settings of a store for one provider. */
export interface ProviderSettings {
  kind: string;
  baseUrl?: string | undefined;
  mapping?: Record<string, Record<string, string>> | undefined;
}

/** The parts of a request that a provider's signature covers. */
export interface SignedRequest {
  /** By lower-case name. */
  headers: Record<string, string>;
  body: Buffer;
  /** The webhook address as it is registered at the provider. */
  url: string;
  now: Date;
}

/** The entity that an event is about, read at receipt from an unvalidated body. */
export interface Subject {
  /** Undefined if the body does not name it. */
  id?: string | undefined;
  /** The provider's own id of this delivery. */
  eventId?: string | undefined;
}

/** Settings, credentials and read access to the provider, used to map a webhook. */
export interface Connection {
  settings: ProviderSettings;
  credentials: Credentials;
  /** Currency of the store, for orders whose payload names none. */
  currency: string;
  reader: ProviderReader;
}

/** How a provider signs its webhooks. */
export interface Signing {
  /** Header fields to keep with the event. */
  headers?: readonly string[];
  /** Whether the signature is valid; undefined if the store has no secret for it. */
  signed?(
    request: SignedRequest,
    connection: Pick<Connection, 'settings' | 'credentials'>,
  ): boolean | undefined;
}

interface CredentialShape {
  /**
   * The credentials and secrets that this provider uses, as a strict object of optional texts. Validated
   * when a store is created or changed; messages must not quote the value. Unset: any names and texts are allowed.
   */
  credentials?: z.ZodObject;
}

/** The part of an adapter that is used when a webhook is received. */
export interface Adapter extends Signing, CredentialShape {
  kind: string;
  /** `entity` is the kind of entity that the event is about, such as `order`. */
  subject(body: unknown, settings: ProviderSettings, entity: string): Subject;
  /**
   * JSON pointers (RFC 6901, `*` for any array element) to the fields of its webhooks that contain neither
   * a secret nor personal data. An event view masks every other field.
   */
  unmaskedFields: readonly string[] | ((settings: ProviderSettings) => readonly string[]);
  /** Of a POS: whether a body is a test event, an object without any field from which events about `entity` are mapped. */
  isTest?(body: unknown, settings: ProviderSettings, entity: string): boolean;
}

/** Has no write methods: the POS sends member_updated for every change, so writing would cause a loop. */
export interface PosAdapter extends Adapter {
  /** Default address; a store may set its own. */
  baseUrl?: string;
  /** Schemas of its webhooks, for the OpenAPI document. */
  payloads: { order: z.ZodType; member: z.ZodType } | undefined;
  /** Not async, and passes no part of the body to an async function, because that would keep it in memory. */
  order(body: unknown, connection: Connection): Promise<OrderRecord>;
  member(body: unknown, settings: ProviderSettings): MemberRecord;
  /** The member as the POS has it now; undefined if the POS has no such member or no lookup. */
  readMember(id: string, connection: Connection): Promise<MemberRecord | undefined>;
}

export interface DeliveryAdapter extends Adapter {
  payload: z.ZodType;
  /** `stage` is the one of the called address; a provider's own event name in the body takes precedence. */
  job(stage: JobStage, body: unknown): { stage: JobStage; job: JobRecord };
}

export interface IdentityAdapter extends Adapter {
  /** Text that names the provider's fields for the `userId` of a verification; a shop sets one to the `consumerUserId`. */
  userIdFrom: string;
  payloads: readonly z.ZodType[];
  /** Like `order` of a POS. Throws Ignored for an event that changes no verification. */
  verification(body: unknown, connection: Connection): Promise<VerificationRecord> | VerificationRecord;
  /** Whether the body has the provider's own format, which has no field `service`. */
  recognises(body: unknown): boolean;
}

export interface ThreeDSAdapter extends CredentialShape {
  kind: string;
  /** Requests the result of a challenge from the 3DS server; `resultIn` reads the answer. */
  requestResult(threeDSServerTransID: string, connection: Connection): Promise<unknown>;
}
