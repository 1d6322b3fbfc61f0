import type { Receipt } from '../inbox/receipt.ts';
import type { KnownStore } from '../stores/known-store.ts';

/** A claimed event. */
export interface InboxEvent extends Pick<
  Receipt,
  'storeId' | 'id' | 'event' | 'service' | 'body' | 'headers'
> {
  /** As in the queue. */
  entity: string;
  receivedAt: string;
  /** When it was received or replayed. */
  queuedAt: string;
  /** Number of claims including this one; with the worker it also distinguishes this claim from later ones. */
  attempts: number;
  /** The worker that has claimed it. */
  worker: string;
  /** Number of workers that died while they processed it, since an attempt last ended normally. */
  crashes: number;
}

/** What planning needs of an event. */
export interface PlannedEvent extends Pick<InboxEvent, 'storeId' | 'event' | 'service' | 'body' | 'headers'> {
  store: KnownStore;
  /** The parsed body, if it was parsed before and kept. */
  content?: unknown;
}

export type ClaimedEvent = InboxEvent & PlannedEvent;
