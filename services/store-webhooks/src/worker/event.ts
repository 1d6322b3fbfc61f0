import type { HookEvent } from '../hooks/events.ts';
import type { KnownStore } from '../stores/known-store.ts';

/** A row of the inbox as it is processed. */
export interface InboxEvent {
  storeId: string;
  id: string;
  event: HookEvent;
  service: string | null;
  entity: string | null;
  body: Buffer;
  headers: Record<string, string>;
  receivedAt: string;
  /** Claims so far, this one included; it also tells this claim from a later one. */
  attempts: number;
}

export interface ClaimedEvent extends InboxEvent {
  store: KnownStore;
}
