import { hash } from 'node:crypto';

/** The first bytes of a key are a hash of the event's subject; the others are a hash of its content. */
const subjectBytes = 8;
const contentBytes = 16;
export const keyBytes = subjectBytes + contentBytes;

interface Content {
  event: string;
  service: string | null;
  /** Null if the entity of the event is not known. */
  entity: string | null;
  /** The provider's id of the event. If present, it alone decides what is a duplicate. */
  eventId?: string | undefined;
  body: Buffer;
}

const digest = (data: string | Buffer, bytes: number): Buffer =>
  hash('sha256', data, 'buffer').subarray(0, bytes);

const joined = (subject: string, content: Buffer): Buffer =>
  Buffer.concat([digest(subject, subjectBytes), content]);

/**
 * The unique key of an event within a store. The keys of all events of one kind about one entity have
 * the same prefix, so the unique index also finds the latest of these events.
 */
export const dedupKey = ({ event, service, entity, eventId, body }: Content): Buffer => {
  const subject = `${event}\n${service ?? ''}\n${entity ?? ''}`;
  if (eventId !== undefined) return joined(subject, digest(`${subject}\n${eventId}`, contentBytes));
  return joined(subject, digest(body, contentBytes));
};

/**
 * The key of an event whose body was received before, but not as the latest one. It depends on the id
 * of the latest event, so the second A of A → B → A is stored, while copies of this A share one key.
 */
export const repeatKey = (key: Buffer, latest: string): Buffer =>
  Buffer.concat([
    key.subarray(0, subjectBytes),
    digest(Buffer.concat([key, Buffer.from(latest)]), contentBytes),
  ]);

/** The first and the last possible key of events with the same subject. */
export const keyRange = (key: Buffer): [Buffer, Buffer] => {
  const subject = key.subarray(0, subjectBytes);
  return [subject, Buffer.concat([subject, Buffer.alloc(contentBytes, 0xff)])];
};
