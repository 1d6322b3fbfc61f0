import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBudget } from '../overload/body-budget.ts';
import { BadRequest, Problem } from './problem.ts';
import { allowLargeBody } from './server.ts';

/** More levels than any document we know, and few enough for every recursive function that reads a body. */
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

/** How many of these bytes the text contains, strings included, but at most `limit`, which is also the number of searches. */
export const countBytes = (text: Buffer, bytes: Iterable<number>, limit: number): number => {
  let count = 0;
  for (const byte of bytes)
    for (let at = text.indexOf(byte); at !== -1; at = text.indexOf(byte, at + 1))
      if (++count >= limit) return limit;
  return count;
};

const hasMoreThan = (limit: number, json: Buffer, bytes: readonly number[]): boolean =>
  countBytes(json, bytes, limit + 1) > limit;

/** Whether JSON text nests deeper than `depth` or has more than `values` values. Counts commas, arrays and objects. */
const exceeds = (json: Buffer, { depth, values }: { depth: number; values: number }): boolean => {
  let [openLevels, valueCount] = [0, 0];
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === comma) {
      if (++valueCount > values) return true;
    } else if (byte === openBracket || byte === openBrace) {
      if (++openLevels > depth || ++valueCount > values) return true;
    } else if (byte === closeBracket || byte === closeBrace) openLevels--;
  }
  return false;
};

/**
 * Whether JSON text nests deeper than `limit` arrays and objects. Call it before JSON.parse, which blocks the process for
 * seconds on megabytes of nested brackets. Most bodies have few brackets, and checking each byte takes as long as parsing,
 * so the brackets are counted first.
 */
export const nestsDeeperThan = (limit: number, json: Buffer): boolean =>
  hasMoreThan(limit, json, [openBracket, openBrace]) && exceeds(json, { depth: limit, values: Infinity });

/** Whether JSON text has more than about `limit` values. Parsing a megabyte of them also blocks the process. */
export const hasMoreValuesThan = (limit: number, json: Buffer): boolean =>
  hasMoreThan(limit, json, [comma, openBracket, openBrace]) &&
  exceeds(json, { depth: Infinity, values: limit });

/** 400 for a client that closed the connection. It never receives it, but the log shows that the service did not fail. */
export const requestAborted = (): BadRequest =>
  new BadRequest('request_aborted', 'The request ended before its body was complete.');

/** Number of pieces that are joined at a time. Each buffer takes about 200 bytes in addition to its content. */
const piecesPerBlock = 256;

/**
 * Collects the pieces of a body or a line. Joins them while they arrive, so that a sender of single bytes uses no more memory
 * than a sender of large pieces.
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
 * Reads the bytes of a body. Returns undefined if there are more than `limit`, and leaves the rest unread. Calls `onPiece`
 * for each piece that it keeps; if that throws, it rejects with the error and discards the rest of the body. Rejects with
 * BadRequest if the connection ends before the body.
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
    // No more events follow if the body has already ended or the client has already closed the connection.
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
      // Frees the memory, because this listener lives as long as the request.
      pieces = undefined;
    });
    const onClose = (): void => {
      // Also emitted after a complete body. The error is created only when needed, because its stack is expensive.
      if (!req.readableEnded) reject(requestAborted());
    };
    req.on('close', onClose).on('error', onClose);
  });

/** Parses JSON in UTF-8. Throws BadRequest for anything else, for too many levels, and for more than about `maxValues` values. */
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

const unsupportedType = (types: readonly string[]): Problem =>
  new Problem({
    status: 415,
    code: 'unsupported_media_type',
    detail: `Send the body as ${types.join(' or ')} in UTF-8.`,
  });

/** Matches the value of `charset`, with or without quotes (RFC 9110 section 8.3.2). */
const charset = /;[ \t]*charset="?([^";]*)/i;

const isUtf8Type = (type: string): boolean => {
  const [, name] = charset.exec(type) ?? [];
  return name === undefined || /^utf-?8$/i.test(name.trim());
};

/** Throws 415 for a body with a content encoding such as gzip, because a small body could unpack to any size. */
export const refuseEncoding = ({ headers }: IncomingMessage): void => {
  if (/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) return;
  const detail = 'Send the body without a content encoding.';
  throw new Problem({ status: 415, code: 'unsupported_encoding', detail });
};

/** `application/json; charset=utf-8` → `application/json`. */
const mediaTypeOf = (contentType: string): string => {
  const [type = ''] = contentType.split(';', 1);
  return type.trim().toLowerCase();
};

/** A body above this size (bytes) may need more time on a slow connection than an ordinary request has. */
const largeBody = 1_048_576;

/**
 * Creates a function that reads the bytes of a JSON body, or returns undefined if there is no body. `types`: accepted media
 * types, 415 for others. `limit`: maximum size in bytes, 413 beyond it. The bytes in memory count in `budget`.
 */
export const jsonBytes =
  (types: readonly string[], limit: number, budget: BodyBudget) =>
  async (req: IncomingMessage, res: ServerResponse): Promise<Buffer | undefined> => {
    const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type = '' } = req.headers;
    if (chunked === undefined && (length === undefined || length === '0')) return undefined;
    if (!types.includes(mediaTypeOf(type)) || !isUtf8Type(type)) throw unsupportedType(types);
    refuseEncoding(req);
    // Allowed here, because the caller has been authenticated by now.
    if (limit > largeBody) allowLargeBody(req);
    const body = await readBody(req, limit, (piece) => budget.take(res, piece.length));
    if (body === undefined)
      throw new Problem({ status: 413, code: 'too_large', detail: 'The body is too large.' });
    return body;
  };
