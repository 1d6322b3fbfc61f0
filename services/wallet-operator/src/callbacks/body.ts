import type { IncomingMessage } from 'node:http';
import { BadRequest } from '@platform/service-kit/problem';

const maxBody = 100_000;

const aborted = (): BadRequest => new BadRequest('request_aborted', 'The request ended before its body.');

/**
 * The raw bytes of a request, because they are signed; undefined when there are more than 100,000. The rest of a
 * larger body stays unread. Rejects with BadRequest when the connection ends before the body.
 */
export const readBody = (req: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    if (req.readableEnded) {
      resolve(Buffer.alloc(0));
      return;
    }
    // Its sender went away before this was called, so no listener would hear of it.
    if (req.destroyed) {
      reject(aborted());
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBody) chunks.push(chunk);
      else resolve(undefined);
    });
    req.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    const end = (): void => {
      // Also emitted after a complete body; an error is made only when one is needed, because of the cost of its stack.
      if (!req.readableEnded) reject(aborted());
    };
    req.on('close', end).on('error', end);
  });
