import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBudget } from '../overload/body-budget.ts';
import { BadRequest, Problem } from './problem.ts';
import { allowLargeBody } from './server.ts';

/** Deeper than any document we know, and shallow enough for every recursive function that reads a body. */
const maxDepth = 64;

const [
  quote = 0,
  backslash = 0,
  comma = 0,
  openBracket = 0,
  closeBracket = 0,
  openBrace = 0,
  closeBrace = 0,
] = Buffer.from('"\\,[]{}');

/** Whether there are more than `limit` of these bytes, in strings or not. Takes at most `limit` searches. */
const hasMoreThan = (limit: number, json: Buffer, bytes: readonly number[]): boolean => {
  let left = limit;
  for (const byte of bytes)
    for (let at = json.indexOf(byte); at !== -1; at = json.indexOf(byte, at + 1)) if (--left < 0) return true;
  return false;
};

/** Whether JSON text nests deeper, or has more values: what commas separate, arrays and objects. */
const exceeds = (json: Buffer, { depth, values }: { depth: number; values: number }): boolean => {
  let [open, found] = [0, 0];
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === comma) {
      if (++found > values) return true;
    } else if (byte === openBracket || byte === openBrace) {
      if (++open > depth || ++found > values) return true;
    } else if (byte === closeBracket || byte === closeBrace) open--;
  }
  return false;
};

/**
 * Whether JSON text nests deeper than `limit` arrays and objects. Run it before JSON.parse, which blocks the process for
 * seconds when megabytes of brackets nest. Most bodies have few brackets; looking at each byte takes as long as parsing them.
 */
export const nestsDeeperThan = (limit: number, json: Buffer): boolean =>
  hasMoreThan(limit, json, [openBracket, openBrace]) && exceeds(json, { depth: limit, values: Infinity });

/** Whether JSON text has more than about `limit` values. To parse a megabyte of them blocks the process, too. */
export const hasMoreValuesThan = (limit: number, json: Buffer): boolean =>
  hasMoreThan(limit, json, [comma, openBracket, openBrace]) &&
  exceeds(json, { depth: Infinity, values: limit });

/** 400. The client went away and does not get it, but the log then names no error of the service. */
export const requestAborted = (): BadRequest =>
  new BadRequest('request_aborted', 'The request ended before its body was complete.');

/** A buffer takes about 200 bytes beside its content. */
const piecesPerBlock = 256;

/**
 * Collects the pieces of a body or a line, and joins them while they arrive, so that a sender of single bytes takes no more
 * memory than one of large pieces.
 */
export const createPieceCollector = () => {
  const blocks: Buffer[] = [];
  let pieces: Buffer[] = [];
  return {
    add(piece: Buffer): void {
      pieces.push(piece);
      if (pieces.length < piecesPerBlock) return;
      blocks.push(Buffer.concat(pieces));
      pieces = [];
    },
    /** All pieces in one buffer. */
    join(): Buffer {
      const [first] = pieces;
      // Most bodies are one piece.
      if (first !== undefined && pieces.length === 1 && blocks.length === 0) return first;
      return Buffer.concat([...blocks, ...pieces]);
    },
  };
};

/**
 * Reads the bytes of a body, for a route whose body is `raw`; undefined when there are more than `limit`. The rest of a
 * larger body stays unread. Rejects with BadRequest when the connection ends before the body, and with what `onPiece`
 * throws, which is called for each piece that is kept; the rest of the body is then discarded.
 */
export const readBody = (
  req: IncomingMessage,
  limit: number,
  onPiece?: (piece: Buffer) => void,
): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    if (Number(req.headers['content-length'] ?? 0) > limit) {
      resolve(undefined);
      return;
    }
    // No event follows for a body that has ended, or a sender that has gone away, before this is called.
    if (req.readableEnded) {
      resolve(Buffer.alloc(0));
      return;
    }
    if (req.destroyed) {
      reject(requestAborted());
      return;
    }
    let pieces: ReturnType<typeof createPieceCollector> | undefined = createPieceCollector();
    let length = 0;
    req.on('data', (piece: Buffer) => {
      if (pieces === undefined) return;
      length += piece.length;
      try {
        if (length <= limit) {
          onPiece?.(piece);
          pieces.add(piece);
          return;
        }
        resolve(undefined);
      } catch (error) {
        reject(error);
      }
      pieces = undefined;
    });
    req.on('end', () => {
      resolve(pieces?.join());
      // This listener lives as long as the request.
      pieces = undefined;
    });
    const end = (): void => {
      // Also emitted after a complete body; an error is made only when one is needed, because of the cost of its stack.
      if (!req.readableEnded) reject(requestAborted());
    };
    req.on('close', end).on('error', end);
  });

/**
 * Parses JSON in UTF-8. Throws BadRequest for anything else, for what nests deeper than any document we know, and for more
 * than about `maxValues` values.
 */
export const parseJson = (json: Buffer, maxValues = Infinity): unknown => {
  if (!isUtf8(json)) throw new BadRequest('malformed_json', 'The body is not valid UTF-8.');
  if (nestsDeeperThan(maxDepth, json)) {
    throw new BadRequest('too_deep', `The body nests deeper than ${maxDepth} levels.`);
  }
  if (hasMoreValuesThan(maxValues, json))
    throw new BadRequest('too_many_values', `The body has more than ${maxValues} values.`);
  try {
    return JSON.parse(json.toString());
  } catch (error) {
    throw new BadRequest('malformed_json', 'The body is not valid JSON.', error);
  }
};

const refuseType = (types: readonly string[]): Problem =>
  new Problem({
    status: 415,
    code: 'unsupported_media_type',
    detail: `Send the body as ${types.join(' or ')} in UTF-8.`,
  });

/** The value of `charset`, in quotes or without (RFC 9110 section 8.3.2). */
const charset = /;[ \t]*charset="?([^";]*)/i;

const isUtf8Type = (type: string): boolean => {
  const [, name] = charset.exec(type) ?? [];
  return name === undefined || /^utf-?8$/i.test(name.trim());
};

/** Throws 415 for a body with a content encoding, such as gzip: a small one could unpack to any size. */
export const refuseEncoding = ({ headers }: IncomingMessage): void => {
  if (/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) return;
  const detail = 'Send the body without a content encoding.';
  throw new Problem({ status: 415, code: 'unsupported_encoding', detail });
};

/** `application/json` of `application/json; charset=utf-8`. */
const mediaTypeOf = (contentType: string): string => {
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase();
};

/** Above this limit (bytes) a slow connection may need more time than an ordinary request has. */
const largeBody = 1_048_576;

/**
 * Makes a reader of the bytes of JSON bodies.
 *
 * `types` are the accepted media types (others get 415), `limit` is in bytes (a larger body gets 413), and what is kept
 * counts in `budget`. Resolves with undefined when there is no body.
 */
export const jsonBytes =
  (types: readonly string[], limit: number, budget: BodyBudget) =>
  async (req: IncomingMessage, res: ServerResponse): Promise<Buffer | undefined> => {
    const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type = '' } = req.headers;
    if (chunked === undefined && (length === undefined || length === '0')) return undefined;
    if (!types.includes(mediaTypeOf(type)) || !isUtf8Type(type)) throw refuseType(types);
    refuseEncoding(req);
    // The caller is known by now.
    if (limit > largeBody) allowLargeBody(req);
    const body = await readBody(req, limit, (piece) => budget.take(res, piece.length));
    if (body === undefined)
      throw new Problem({ status: 413, code: 'too_large', detail: 'The body is too large.' });
    return body;
  };
