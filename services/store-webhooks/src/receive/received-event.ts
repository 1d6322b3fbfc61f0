import type { IncomingHttpHeaders } from 'node:http';
import type { SecretBox } from '@platform/auth/secret-box';
import { Unavailable } from '@platform/service-kit/problem';
import { isStorable } from '@platform/service-kit/text';
import type { ErrorTracker } from '../error-tracker.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import { readChallenge } from '../payments/challenge-payload.ts';
import { eventTypes } from '../processing/event-types.ts';
import type { Subject } from '../providers/adapter.ts';
import { dedupKey, type ReceivedEvent } from '../inbox/event.ts';
import { isPaused, storePaused, type KnownStore } from '../stores/known-store.ts';
import type { HookAddress } from './token-guard.ts';

/** Header fields that are stored with every event. */
const commonHeaders = ['content-type', 'user-agent', 'x-request-id'];

const selectHeaders = (headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> => {
  const selected: Record<string, string> = {};
  for (const name of [...commonHeaders, ...names]) {
    const value = headers[name];
    if (typeof value === 'string' && value.length <= 1000 && isStorable(value)) selected[name] = value;
  }
  return selected;
};

/** The request of a webhook. */
export interface WebhookRequest {
  store: KnownStore;
  address: HookAddress;
  body: Buffer;
  /** The parsed body; undefined if it is not readable. */
  content: unknown;
  headers: IncomingHttpHeaders;
  /** The URL that the provider sent it to. */
  url: string;
  receivedAt: Date;
}

interface Inspection extends Subject {
  /** The type of the entity that the event is about. */
  kind: string;
  /** Header fields to store, in addition to those of every event. */
  providerHeaders?: readonly string[] | undefined;
  /** Whether the signature is valid; undefined if it is not checked. */
  signed?: boolean | undefined;
}

/**
 * Determines the entity of an event and checks its signature. A body that names no provider has no entity; processing
 * reports that later. Throws CredentialsUnreadable if the credentials for the signature cannot be decrypted.
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
      providerHeaders: adapter.headers,
      signed: adapter.signed?.({ headers, body, url, now }, provider),
    };
  } catch (error) {
    if (error instanceof Unprocessable || error instanceof Ignored) return { kind: entity };
    throw error;
  }
};

/** The stored header with the sealed URL of a refused event, which is needed because some signatures cover the URL. */
const sealedUrl = ':url';
/** The secret-box context of the sealed URL of an event. */
export const urlContext = (storeId: string, id: string): string => `inbox/${storeId}/${id}/url`;

/** 503, because an operator can restore the missing key. */
export class AddressUnreadable extends Unavailable {
  constructor() {
    const detail = 'The address of the event cannot be decrypted; check SECRETS_KEY.';
    super('address_unreadable', detail, undefined, 60);
  }
}

/**
 * The URL that a refused event was sent to, which contains a webhook token; empty if it was not stored. Throws
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

/** The first state of an event. `refused` comes first, because a replay does not verify signatures. */
const initialState = (
  refused: boolean,
  store: KnownStore,
  content: unknown,
): Pick<ReceivedEvent, 'state' | 'error'> => {
  if (refused) return { state: 'refused', error: 'The signature is not valid.' };
  if (isPaused(store)) return { state: 'ignored', error: storePaused };
  if (content === undefined) return { state: 'failed', error: 'The body is not readable.' };
  return { state: 'pending', error: null };
};

/** Creates the event to store from a request. */
export const receivedEventOf = (box: SecretBox, id: string, request: WebhookRequest): ReceivedEvent => {
  const { store, address, body, content, headers, url, receivedAt } = request;
  const { event, service } = address;
  const { kind, id: subject, eventId, providerHeaders = [], signed } = inspectWebhook(request);
  const entity = subject === undefined ? null : `${kind}:${subject}`;
  const refused = signed === false;
  const storeId = store.id;
  const selected = selectHeaders(headers, providerHeaders);
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
    headers: refused ? { ...selected, [sealedUrl]: box.seal(url, urlContext(storeId, id)) } : selected,
    receivedAt,
    ...initialState(refused, store, content),
    holdMs: 0,
  };
};

/** Reports an event with an unreadable body to the error tracker, because no worker will process it. */
export const reportUnreadable = (
  tracker: ErrorTracker,
  { state, error, storeId, event, id }: ReceivedEvent,
): void => {
  if (state === 'failed') tracker.capture(new Unprocessable(error ?? ''), { storeId, event, eventId: id });
};
