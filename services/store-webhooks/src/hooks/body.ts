import type { IncomingMessage } from 'node:http';
import { isUtf8 } from 'node:buffer';
import { nestsDeeperThan } from '@platform/service-kit/body';
import { BadRequest, Problem } from '@platform/service-kit/problem';

export const maxBody = 1_048_576;
const maxDepth = 64;

const aborted = (): BadRequest =>
  new BadRequest('request_aborted', 'The request ended before its body was complete.');

const tooLarge = (): Problem =>
  new Problem({ status: 413, code: 'too_large', detail: 'The body is larger than 1 MiB.' });

/**
 * The raw bytes of a body of at most 1 MiB, however it is framed; beyond it rejects with a 413
 * Problem. Whatever the content type says, nothing is interpreted here.
 */
export const readBody = (req: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(req.headers['content-length'] ?? 0) > maxBody) {
      reject(tooLarge());
      return;
    }
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
      if (length <= maxBody) {
        chunks.push(chunk);
        return;
      }
      req.removeAllListeners('data');
      chunks.length = 0;
      reject(tooLarge());
    });
    req.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    // Only what was read whole is an event.
    req.on('error', () => reject(aborted()));
    req.on('close', () => {
      if (!req.readableEnded) reject(aborted());
    });
  });

export const isForm = (contentType: string | undefined): boolean =>
  contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;

/** What a body says: JSON, or a form's fields; undefined where it can't be read. Never throws. */
export const readable = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isUtf8(body)) return undefined;
  if (isForm(contentType)) return fields(body.toString('utf8'));
  if (nestsDeeperThan(maxDepth, body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
};

/** A form's fields; one field `payload` that holds JSON is how some senders wrap theirs. */
const fields = (text: string): unknown => {
  // Some senders put JSON into a body that they call a form.
  if (/^\s*[{[]/.test(text)) return readable(Buffer.from(text), undefined);
  const form = Object.fromEntries(new URLSearchParams(text));
  const { payload, ...others } = form;
  return payload !== undefined && Object.keys(others).length === 0
    ? readable(Buffer.from(payload), undefined)
    : form;
};
