import type { HookEvent } from '../hooks/events.ts';
import type { KnownStore } from '../stores/known-store.ts';

/** A claimed row of the inbox. */
export interface InboxEvent {
  storeId: string;
  id: string;
  event: HookEvent;
  service: string | null;
  entity: string | null;
  body: Buffer;
  headers: Record<string, string>;
  receivedAt: string;
  /** Number of claims including this one; it also distinguishes this claim from later ones. */
  attempts: number;
  /** Error of the last attempt that ended in order. */
  error: string | null;
}

export interface ClaimedEvent extends InboxEvent {
  store: KnownStore;
}
