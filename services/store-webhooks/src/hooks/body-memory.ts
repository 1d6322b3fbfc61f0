import type { IncomingMessage } from 'node:http';
import { Unavailable } from '@platform/service-kit/problem';
import { maxBody } from './body.ts';

export interface BodyMemory {
  /** Bytes that are reserved now. */
  readonly bytes: number;
  /**
   * Reserves memory for the body of a request before it is read: its Content-Length, or the largest allowed body if
   * it is chunked. Returns a function that gives it back. Throws Unavailable when there is not enough left.
   */
  reserve(req: IncomingMessage): () => void;
}

/** Limits the bodies that are in memory at the same time to `maxBytes`, however many requests send them. */
export const createBodyMemory = (maxBytes: number): BodyMemory => {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    reserve: ({ headers }) => {
      const sent =
        headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : maxBody;
      const size = Math.min(sent, maxBody);
      if (bytes + size > maxBytes)
        throw new Unavailable('too_busy', 'Too many webhooks are being received; send it again later.');
      bytes += size;
      return () => void (bytes -= size);
    },
  };
};
