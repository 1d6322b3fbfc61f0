/** An event as it was received, ready to be stored. */
export interface Receipt {
  storeId: string;
  /** UUIDv7. */
  id: string;
  event: string;
  service: string | null;
  entity: string | null;
  dedup: Buffer;
  /** False where the provider's own event id decides: then a repeat is always a duplicate. */
  byContent: boolean;
  body: Buffer;
  /** The header fields that matter, lower-case. */
  headers: Record<string, string>;
  receivedAt: Date;
  state: 'pending' | 'failed' | 'refused';
  error: string | null;
  /** Milliseconds before a worker may claim it. */
  holdMs: number;
}

export type Stored = 'stored' | 'duplicate';
