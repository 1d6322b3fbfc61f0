import type { HookEvent } from '../webhooks.ts';
import type { KnownStore } from '../stores/known-store.ts';

/** An event as it was received, ready to be stored. */
export interface ReceivedEvent {
  storeId: string;
  /** UUIDv7. */
  id: string;
  event: HookEvent;
  service: string | null;
  entity: string | null;
  /** See dedup.ts. */
  dedup: string;
  /** False if the provider's event id decides; then a repeated key is always a duplicate. */
  byContent: boolean;
  body: Buffer;
  /** The header fields that processing needs, with lower-case names. */
  headers: Record<string, string>;
  receivedAt: Date;
  state: 'pending' | 'failed' | 'refused';
  error: string | null;
  /** Delay before a worker may claim the event, in milliseconds. */
  holdMs: number;
}

/** `claimed`: stored, and claimed for the worker of this process. */
export type Stored = 'stored' | 'claimed' | 'duplicate';

/** What planning needs of an event, whether it is claimed or shown. */
export interface PlannedEvent extends Pick<
  ReceivedEvent,
  'storeId' | 'event' | 'service' | 'body' | 'headers'
> {
  store: KnownStore;
  /** The parsed body, if it was parsed before and kept. */
  content?: unknown;
}

/** An event that a worker has claimed. */
export interface ClaimedEvent extends PlannedEvent {
  id: string;
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

/** A claimed event without its store, as a statement returns it. */
export type ClaimedRow = Omit<ClaimedEvent, 'store' | 'content'>;
