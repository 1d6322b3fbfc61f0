import { crc32 } from 'node:zlib';
import type { ReceivedEvent } from '../event.ts';

/**
 * Format of a record: length and CRC-32 of the rest (4 bytes each, big endian), length of the JSON
 * that describes the event (4 bytes), this JSON, the raw body.
 */
const headBytes = 8;

export const encode = ({ body, ...rest }: ReceivedEvent): Buffer => {
  const about = Buffer.from(JSON.stringify(rest));
  const record = Buffer.allocUnsafe(headBytes + 4 + about.length + body.length);
  record.writeUInt32BE(record.length - headBytes, 0);
  record.writeUInt32BE(about.length, headBytes);
  about.copy(record, headBytes + 4);
  body.copy(record, headBytes + 4 + about.length);
  record.writeUInt32BE(crc32(record.subarray(headBytes)), 4);
  return record;
};

const decode = (content: Buffer): ReceivedEvent => {
  const bodyAt = 4 + content.readUInt32BE(0);
  const about = JSON.parse(content.toString('utf8', 4, bodyAt)) as Omit<
    ReceivedEvent,
    'body' | 'receivedAt'
  > & {
    receivedAt: string;
  };
  return {
    ...about,
    receivedAt: new Date(about.receivedAt),
    // Copies the body, so that one small event does not keep a whole chunk of the file in memory.
    body: Buffer.from(content.subarray(bodyAt)),
  };
};

/**
 * Decodes up to `max` complete records at the beginning of `chunk`; `bytes` is their total size. An incomplete or a damaged
 * record may follow.
 */
export const decodeAll = (chunk: Buffer, max: number) => {
  const events: ReceivedEvent[] = [];
  let at = 0;
  while (events.length < max && chunk.length - at >= headBytes) {
    const end = at + headBytes + chunk.readUInt32BE(at);
    if (end > chunk.length) break;
    const content = chunk.subarray(at + headBytes, end);
    // A power failure can leave zeros at the end of a file: a head of zeros fits an empty record, which is never written.
    if (content.length === 0 || crc32(content) !== chunk.readUInt32BE(at + 4))
      return { events, bytes: at, damaged: true };
    events.push(decode(content));
    at = end;
  }
  return { events, bytes: at, damaged: false };
};
