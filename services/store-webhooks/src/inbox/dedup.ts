import { hash } from 'node:crypto';

/** Bytes of a key that say what an event is about; the rest says what it tells. */
const subjectBytes = 8;
const contentBytes = 16;
export const keyBytes = subjectBytes + contentBytes;

interface Content {
  event: string;
  service: string | null;
  /** Undefined or null: of nothing we can name. */
  entity: string | null;
  /** The provider's own id of the event, where it gives one: then that alone makes a duplicate. */
  eventId?: string | undefined;
  body: Buffer;
}

const digest = (data: string | Buffer, bytes: number): Buffer =>
  hash('sha256', data, 'buffer').subarray(0, bytes);

const joined = (subject: string, content: Buffer): Buffer =>
  Buffer.concat([digest(subject, subjectBytes), content]);

/**
 * The key under which an event is stored once in a store. All keys of one entity's events of one
 * kind begin alike, so that the unique index also finds the entity's latest one.
 */
export const dedupKey = ({ event, service, entity, eventId, body }: Content): Buffer => {
  const subject = `${event}\n${service ?? ''}\n${entity ?? ''}`;
  if (eventId !== undefined) return joined(subject, digest(`${subject}\n${eventId}`, contentBytes));
  return joined(subject, digest(body, contentBytes));
};

/**
 * The key of an event whose body was seen before, but not last: it follows `latest`, so a shop that
 * goes A → B → A is told so, while copies of that second A still meet in one key.
 */
export const repeatKey = (key: Buffer, latest: string): Buffer =>
  Buffer.concat([
    key.subarray(0, subjectBytes),
    digest(Buffer.concat([key, Buffer.from(latest)]), contentBytes),
  ]);

/** First and last key that events about the same can have. */
export const keyRange = (key: Buffer): [Buffer, Buffer] => {
  const subject = key.subarray(0, subjectBytes);
  return [subject, Buffer.concat([subject, Buffer.alloc(contentBytes, 0xff)])];
};
