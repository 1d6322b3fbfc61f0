import type { IncomingMessage } from 'node:http';

/** Contract: larger bodies are answered 200 ERROR_WRONG_SYNTAX, so they are read, not cut off. */
export const maxBody = 100_000;
/** Nobody is listened to for ever, though: beyond this the connection ends without an answer. */
const maxDrain = 10_000_000;

/**
 * The raw bytes of a request; undefined when there are more than `maxBody`, which are then read and
 * thrown away so that the sender gets to read the answer. Rejects when the sender goes away or
 * does not come to an end.
 */
export const readBody = (req: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    if (req.readableEnded) resolve(Buffer.alloc(0));
    let length = 0;
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBody) chunks.push(chunk);
      else if (length > maxDrain) reject(new Error('the body does not end'));
      else chunks.length = 0;
    });
    req.on('end', () => {
      if (length > maxBody) resolve(undefined);
      else resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    });
    req.on('error', reject);
    req.on('close', () => {
      if (!req.complete) reject(new Error('the request ended before its body'));
    });
  });
