import { hash } from 'node:crypto';

/** The first digits of a key are a hash of the event's subject; the others are a hash of its content. */
const [subjectDigits, contentDigits] = [16, 32];

interface Content {
  event: string;
  service: string | null;
  /** Null if the entity of the event is not known. */
  entity: string | null;
  /** The provider's id of the event. If present, it alone decides what is a duplicate. */
  eventId?: string | undefined;
  body: Buffer;
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
