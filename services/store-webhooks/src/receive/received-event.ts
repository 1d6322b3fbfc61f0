import type { IncomingHttpHeaders } from 'node:http';
import type { SecretBox } from '@platform/auth/secret-box';
import { Unavailable } from '@platform/service-kit/problem';
import { isStorable } from '@platform/service-kit/text';
import type { ErrorTracker } from '../error-tracker.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import { readChallenge } from '../payments/challenge.ts';
import { eventTypes } from '../processing/event-types.ts';
import type { Subject } from '../providers/adapter.ts';
import { dedupKey, type ReceivedEvent } from '../inbox/event.ts';
import { isPaused, storePaused, type KnownStore } from '../stores/known-store.ts';
import type { HookAddress } from './token-guard.ts';

/** Header fields that are kept with every event. */
const keptOfEvery = ['content-type', 'user-agent', 'x-request-id'];

const keep = (headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const name of [...keptOfEvery, ...names]) {
    const value = headers[name];
    if (typeof value === 'string' && value.length <= 1000 && isStorable(value)) kept[name] = value;
  }
  return kept;
};

/** A webhook of a store, as it came. */
export interface WebhookRequest {
  store: KnownStore;
  address: HookAddress;
  body: Buffer;
  /** The parsed body; undefined if it is not readable. */
  content: unknown;
  headers: IncomingHttpHeaders;
  /** The address as the provider knows it. */
  url: string;
  receivedAt: Date;
}

interface Inspection extends Subject {
  /** What kind of entity the event is about. */
  kind: string;
  /** Header fields to keep, besides those of every event. */
  keptHeaders?: readonly string[] | undefined;
  /** Whether the signature is valid; undefined if it is not checked. */
  signed?: boolean | undefined;
}

/**
 * What an event is about and whether its signature is valid, determined at receipt. A body that names no provider is about
 * nothing; processing reports that. Throws CredentialsUnreadable when the credentials for a signature cannot be decrypted.
 */
export const inspectWebhook = (request: WebhookRequest): Inspection => {
  const { store, address, content, body, url, receivedAt: now } = request;
  const { entity, providerOf } = eventTypes[address.event];
  if (providerOf === undefined)
    return { kind: entity, id: readChallenge(content, address.service, true).paymentId };
  try {
    const provider = providerOf(store, address.service, content);
    const { adapter, settings } = provider;
    const headers = request.headers as Record<string, string>;
    return {
      ...adapter.subject(content, settings, entity),
      kind: entity === 'verification' ? `${entity}.${adapter.kind}` : entity,
      keptHeaders: adapter.headers,
      signed: adapter.signed?.({ headers, body, url, now }, provider),
    };
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored) return { kind: entity };
    throw error;
  }
};

/** Name in the stored headers of the sealed address of a refused event: some signatures cover the address. */
const sealedUrl = ':url';
/** The context that the sealed address of an event is bound to. */
export const urlContext = (storeId: string, id: string): string => `inbox/${storeId}/${id}/url`;

/** 503: an operator can restore the missing key. */
export class AddressUnreadable extends Unavailable {
  constructor() {
    const detail = 'The address of the event cannot be decrypted; check SECRETS_KEY.';
    super('address_unreadable', detail, undefined, 60);
  }
}

/**
 * The address that a refused event was sent to, which holds a webhook token; empty where it was not kept. Throws
 * AddressUnreadable.
 */
export const urlOf = (
  box: SecretBox,
  { storeId, id, headers }: Pick<ReceivedEvent, 'storeId' | 'id' | 'headers'>,
): string => {
  const sealed = headers[sealedUrl];
  if (sealed === undefined) return '';
  const url = box.open(sealed, urlContext(storeId, id));
  if (url === undefined) throw new AddressUnreadable();
  return url;
};

/** The state of an event that no worker gets; pending for the others. A replay does not verify signatures, so that is first. */
const stateAtReceipt = (
  refused: boolean,
  store: KnownStore,
  content: unknown,
): Pick<ReceivedEvent, 'state' | 'error'> => {
  if (refused) return { state: 'refused', error: 'The signature is not valid.' };
  if (isPaused(store)) return { state: 'ignored', error: storePaused };
  if (content === undefined) return { state: 'failed', error: 'The body is not readable.' };
  return { state: 'pending', error: null };
};

/** What is stored of a request. */
export const receivedEventOf = (box: SecretBox, id: string, request: WebhookRequest): ReceivedEvent => {
  const { store, address, body, content, headers, url, receivedAt } = request;
  const { event, service } = address;
  const { kind, id: subject, eventId, keptHeaders = [], signed } = inspectWebhook(request);
  const entity = subject === undefined ? null : `${kind}:${subject}`;
  const refused = signed === false;
  const storeId = store.id;
  const kept = keep(headers, keptHeaders);
  return {
    storeId,
    id,
    event,
    service,
    entity,
    // A refused event must not count as a duplicate of the same body with a valid signature.
    dedup: dedupKey({ event: refused ? `${event}\nrefused` : event, service, entity, eventId, body }),
    byContent: eventId === undefined,
    body,
    headers: refused ? { ...kept, [sealedUrl]: box.seal(url, urlContext(storeId, id)) } : kept,
    receivedAt,
    ...stateAtReceipt(refused, store, content),
    holdMs: 0,
  };
};

/** Tells the error tracker of an event whose body is unreadable, because no worker will see it. */
export const reportUnreadable = (
  tracker: ErrorTracker,
  { state, error, storeId, event, id }: ReceivedEvent,
): void => {
  if (state === 'failed') tracker.capture(new Unprocessable(error ?? ''), { storeId, event, eventId: id });
};
