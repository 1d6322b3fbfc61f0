import type { ClaimedEvent } from '../worker/event.ts';
import type { Claimer } from '../worker/claim.ts';

/** Takes events that this process has just stored, so that they are neither claimed nor read again. */
export interface EventWorker {
  claimer: Claimer;
  /** Whether the worker has room for this number of events, and of bytes of their bodies. */
  hasRoom(events: number, bytes: number): boolean;
  /** Processes an event that was claimed for it when it was stored. */
  begin(event: ClaimedEvent): void;
}

/** What the inbox knows of the background tasks of this process. */
export interface OnWork {
  /** There are new events in the queue. */
  wake(): void;
  /** Undefined while no worker runs in this process. */
  worker?: EventWorker | undefined;
}
