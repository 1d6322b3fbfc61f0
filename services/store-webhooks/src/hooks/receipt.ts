import type { IncomingHttpHeaders } from 'node:http';
import { dedupKey } from '../inbox/dedup.ts';
import { nextId } from '../inbox/id.ts';
import type { Receipt } from '../inbox/receipt.ts';
import { isStorable } from '@platform/service-kit/text';
import type { KnownStore } from '../stores/known-store.ts';
import { readable } from './body.ts';
import type { HookAddress } from './events.ts';
import { aboutEvent } from './subject.ts';

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
  store: KnownStore;
  address: HookAddress;
  body: Buffer;
  headers: IncomingHttpHeaders;
  /** The address as the provider knows it. */
  url: string;
  now: Date;
}

/** Makes of a request what is stored of it. */
export const receiptOf = ({ store, address, body, headers, url, now }: Arrival): Receipt => {
  const { event, service } = address;
  const said = readable(body, headers['content-type']);
  const about = aboutEvent(store, event, service, said, {
    headers: headers as Record<string, string>,
    body,
    url,
    now,
  });
  const refused = about.signed === false;
  const unreadable = said === undefined;
  return {
    storeId: store.id,
    id: nextId(),
    event,
    service,
    entity: about.entity,
    // What was refused may not stand in the way of the same body with the right signature.
    dedup: dedupKey({ ...about, event: refused ? `${event}\nrefused` : event, service, body }),
    byContent: about.eventId === undefined,
    body,
    headers: keep(headers, about.headers),
    receivedAt: now,
    state: refused ? 'refused' : unreadable ? 'failed' : 'pending',
    error: refused ? 'The signature is not right.' : unreadable ? 'The body is not readable.' : null,
    holdMs: 0,
  };
};
