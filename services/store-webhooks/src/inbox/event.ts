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
  /** False if the provider's event id decides; then a repeated key is always a duplicate. */
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
export type Stored = 'stored' | 'claimed' | 'duplicate';

/** What planning needs of an event, whether it is claimed or shown. */
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
  /** When it was received or replayed. */
  queuedAt: string;
  /** Number of claims including this one; with the worker it also distinguishes this claim from later ones. */
  attempts: number;
  /** The worker that has claimed it. */
  worker: string;
  /** Number of workers that died while they processed it, since an attempt last ended normally. */
  crashes: number;
  /** Whether it may be read with the mapping of today; else that of its receipt counts. */
  isRemapped: boolean;
}

/** A claimed event without its store, as a statement returns it. */
export type ClaimedRow = Omit<ClaimedEvent, 'store'>;

/** The first digits of a key are a hash of the event's subject; the others are a hash of its content. */
const [subjectDigits, contentDigits] = [16, 32];

interface Content extends Pick<ReceivedEvent, 'service' | 'entity' | 'body'> {
  event: string;
  /** The provider's id of the event. If present, it alone decides what is a duplicate. */
  eventId?: string | undefined;
}

const digest = (data: string | Buffer, digits: number): string => hash('sha256', data).slice(0, digits);

/** The parts of a key: its subject is the same for all events of one kind about one entity. */
export const partsOfKey = (key: string): { subject: string; content: string } => ({
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
 * The key of an event whose body was received before, but not as the latest one. It depends on the id
 * of the latest event, so the second A of A → B → A is stored, while copies of this A share one key.
 */
export const repeatKey = (key: string, latest: string): string =>
  partsOfKey(key).subject + digest(key + latest, contentDigits);

const idBytes = 16;
/** Random bytes for many ids: one system call per id would take longer than the rest of creating it. */
const random = Buffer.alloc(256 * idBytes);
let used = random.length;

const nextRandom = (): Buffer => {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  return random.subarray(used, (used += idBytes));
};

/** Returns a UUIDv7 for the time `now`, in milliseconds. */
export type NextId = (now: number) => string;

/** Makes ids each of which is greater than all earlier ones, also while the clock stands still or goes back. */
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
