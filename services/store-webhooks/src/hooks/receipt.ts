import type { IncomingHttpHeaders } from 'node:http';
import type { SecretBox } from '@platform/auth/secret-box';
import { dedupKey } from '../inbox/dedup.ts';
import type { Receipt } from '../inbox/receipt.ts';
import { Unavailable } from '@platform/service-kit/problem';
import { isStorable } from '@platform/service-kit/text';
import type { KnownStore } from '../stores/known-store.ts';
import type { ErrorTracker } from '../tracker/tracker.ts';
import { Unprocessable } from '../worker/unprocessable.ts';
import { inspectEvent } from './subject.ts';
import type { HookAddress } from './token-guard.ts';

const always = ['content-type', 'user-agent', 'x-request-id'];

const keep = (headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const name of [...always, ...names]) {
    const value = headers[name];
    if (typeof value === 'string' && value.length <= 1000 && isStorable(value)) kept[name] = value;
  }
  return kept;
};

interface Arrival {
  id: string;
  store: KnownStore;
  address: HookAddress;
  body: Buffer;
  /** The parsed body; undefined if it is not readable. */
  content: unknown;
  headers: IncomingHttpHeaders;
  /** The address as the provider knows it. */
  url: string;
  now: Date;
  box: SecretBox;
}

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
  { storeId, id, headers }: { storeId: string; id: string; headers: Record<string, string> },
): string => {
  const sealed = headers[sealedUrl];
  if (sealed === undefined) return '';
  try {
    return box.open(sealed, urlContext(storeId, id));
  } catch {
    throw new AddressUnreadable();
  }
};

/** What is stored of a request. */
export const receiptOf = (arrival: Arrival): Receipt => {
  const { id, store, address, body, content, headers, url, now, box } = arrival;
  const { event, service } = address;
  const request = { headers: headers as Record<string, string>, body, url, now };
  const inspection = inspectEvent(store, event, service, content, request);
  const refused = inspection.signed === false;
  const unreadable = content === undefined;
  const storeId = store.id;
  const kept = keep(headers, inspection.headers);
  return {
    storeId,
    id,
    event,
    service,
    entity: inspection.entity,
    // A refused event must not count as a duplicate of the same body with a valid signature.
    dedup: dedupKey({ ...inspection, event: refused ? `${event}\nrefused` : event, service, body }),
    byContent: inspection.eventId === undefined,
    body,
    headers: refused ? { ...kept, [sealedUrl]: box.seal(url, urlContext(storeId, id)) } : kept,
    receivedAt: now,
    state: refused ? 'refused' : unreadable ? 'failed' : 'pending',
    error: refused ? 'The signature is not valid.' : unreadable ? 'The body is not readable.' : null,
    holdMs: 0,
  };
};

/** Tells the error tracker of an event whose body is unreadable, because no worker will see it. */
export const reportUnreadable = (
  tracker: ErrorTracker,
  { state, error, storeId, event, id }: Receipt,
): void => {
  if (state === 'failed') tracker.capture(new Unprocessable(error ?? ''), { storeId, event, eventId: id });
};
