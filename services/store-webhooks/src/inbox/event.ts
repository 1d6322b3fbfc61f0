import { hash, randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
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
  /** See `dedupKey`. */
  dedup: string;
  /** True: the content decides what is a duplicate. False: the provider's event id does, and a repeated key is always one. */
  byContent: boolean;
  body: Buffer;
  /** The header fields that processing needs, with lower-case names. */
  headers: Record<string, string>;
  receivedAt: Date;
  state: 'pending' | 'failed' | 'refused' | 'ignored';
  error: string | null;
  /** Delay before a worker may claim the event, in milliseconds. */
  holdMs: number;
}

/** `claimed`: stored, and claimed for the worker of this instance. */
export type StoreResult = 'stored' | 'claimed' | 'duplicate';

/** The fields of an event that planning needs; the event may be claimed or only shown. */
export interface PlannedEvent extends Pick<
  ReceivedEvent,
  'storeId' | 'id' | 'event' | 'service' | 'body' | 'headers'
> {
  store: KnownStore;
}

/** An event that a worker has claimed. */
export interface ClaimedEvent extends PlannedEvent {
  /** As in the queue. */
  entity: string;
  receivedAt: string;
  /** When the event was received or replayed. */
  queuedAt: string;
  /** Number of claims including this one. Together with the worker it distinguishes this claim from later ones. */
  attempts: number;
  /** The worker that has claimed it. */
  worker: string;
  /** How many workers crashed while processing it since the last attempt that ended normally. */
  crashes: number;
  /** True, set by a replay or recheck: processed with the current mapping. False: with the mapping at its receipt. */
  isRemapped: boolean;
}

/** A claimed event without its store, as a statement returns it. */
export type ClaimedRow = Omit<ClaimedEvent, 'store'>;

/** The first digits of a key are a hash of the event's subject; the others are a hash of its content. */
const [subjectDigits, contentDigits] = [16, 32];

interface Content extends Pick<ReceivedEvent, 'service' | 'entity' | 'body'> {
  event: string;
  /** The provider's id of the event. If present, only this id decides what is a duplicate. */
  eventId?: string | undefined;
}

const digest = (data: string | Buffer, digits: number): string => hash('sha256', data).slice(0, digits);

/** Splits a key: `subject` is the same for all events with the same name, provider and entity. */
export const splitKey = (key: string): { subject: string; content: string } => ({
  subject: key.slice(0, subjectDigits),
  content: key.slice(subjectDigits),
});

/** The unique key of an event within a store, in hexadecimal. */
export const dedupKey = ({ event, service, entity, eventId, body }: Content): string => {
  const subject = `${event}\n${service ?? ''}\n${entity ?? ''}`;
  const content = eventId === undefined ? body : `${subject}\n${eventId}`;
  return digest(subject, subjectDigits) + digest(content, contentDigits);
};

/**
 * The key of an event whose body was received before, but is not the latest one of its subject. It depends on the id of the
 * latest event: the second A of A → B → A is stored, while further copies of it have the same key.
 */
export const repeatKey = (key: string, latest: string): string =>
  splitKey(key).subject + digest(key + latest, contentDigits);

const idBytes = 16;
/** Random bytes for many ids: one system call per id would take longer than all other work for an id. */
const randomPool = Buffer.alloc(256 * idBytes);
let usedBytes = randomPool.length;

const nextRandom = (): Buffer => {
  if (usedBytes === randomPool.length) {
    randomFillSync(randomPool);
    usedBytes = 0;
  }
  return randomPool.subarray(usedBytes, (usedBytes += idBytes));
};

/** Returns a UUIDv7 for the time `now`, in milliseconds. */
export type NextId = (now: number) => string;

/** Creates strictly increasing ids, even while the clock stands still or goes back. */
export const createIds = (): NextId => {
  let last = 0;
  let sequence = 0;
  return (now) => {
    if (now > last) [last, sequence] = [now, 0];
    else sequence++;
    return v7({ msecs: last, seq: sequence, random: nextRandom() });
  };
};

/** The smallest UUIDv7 of a point in time; smaller ids were created earlier. */
export const firstIdOf = (at: Date): string => {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};
