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
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer;
  /** The address as it was registered at the provider. */
  url: string;
  now: Date;
}

/** The entity an event is about, read at receipt from an unvalidated body. */
export interface Subject {
  /** Undefined when the body does not name it. */
  id?: string | undefined;
  /** The provider's own id of this delivery. */
  eventId?: string | undefined;
}

/** Settings, credentials and read access to the provider, for the mapping of a webhook. */
export interface Connection {
  settings: ProviderSettings;
  credentials: Credentials;
  /** Of the store: for orders whose payload names none. */
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
   * The credentials and secrets that this provider uses, as a strict object of optional texts. Checked
   * when a store is created or changed; messages must not quote the value. Unset: any names and texts.
   */
  credentials?: z.ZodObject;
}

/** The part of an adapter that receiving uses. */
export interface Adapter extends Signing, CredentialShape {
  kind: string;
  /** `entity` is the kind of entity that the event is about, such as `order`. */
  subject(body: unknown, settings: ProviderSettings, entity: string): Subject;
  /**
   * JSON pointers (RFC 6901, `*` for any array element) to the fields of its webhooks that hold neither
   * a secret nor personal data. An event view masks every other field.
   */
  unmaskedFields: readonly string[] | ((settings: ProviderSettings) => readonly string[]);
  /** Of a POS: whether a body is an object with none of the fields that events about an `entity` are mapped from. */
  isTest?(body: unknown, settings: ProviderSettings, entity: string): boolean;
}

/** It has no method that writes: the POS sends member_updated for changes by us, so writing would loop. */
export interface PosAdapter extends Adapter {
  /** Where it is asked, unless the store has an address of its own. */
  baseUrl?: string;
  /** Shapes of its webhooks, for the OpenAPI document. */
  payloads: { order: z.ZodType; member: z.ZodType } | undefined;
  /** Not async, and gives no part of the body to a function that waits, which would keep it in memory. */
  order(body: unknown, connection: Connection): Promise<OrderRecord>;
  member(body: unknown, settings: ProviderSettings): MemberRecord;
  /** The member as the POS has it now; undefined when the POS has no such member or no look-up. */
  readMember(id: string, connection: Connection): Promise<MemberRecord | undefined>;
}

export interface DeliveryAdapter extends Adapter {
  payload: z.ZodType;
  /** `stage` is that of the address that was called; a provider's own event name in the body takes precedence. */
  job(stage: JobStage, body: unknown): { stage: JobStage; job: JobRecord };
}

export interface IdentityAdapter extends Adapter {
  /** Names of the provider's fields that the `userId` of a verification is from; a shop sets one to the `consumerUserId`. */
  userIdFrom: string;
  payloads: readonly z.ZodType[];
  /** Like `order` of a POS. Throws Ignored for an event that changes no verification. */
  verification(body: unknown, connection: Connection): Promise<VerificationRecord> | VerificationRecord;
  /** Whether the body has the provider's own shape, which has no field `service`. */
  recognises(body: unknown): boolean;
}

export interface ThreeDSAdapter extends CredentialShape {
  kind: string;
  /** The 3DS server's answer about a challenge, for `resultIn`. */
  ask(threeDSServerTransID: string, connection: Connection): Promise<unknown>;
}
