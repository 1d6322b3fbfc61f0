import type { HookEvent } from '../hooks/events.ts';

/** An event as it was received, ready to be stored. */
export interface Receipt {
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
