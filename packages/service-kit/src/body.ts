import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUtf8 } from 'node:buffer';
import express from 'express';
import { BadRequest, Problem } from './problem.ts';

/** Deeper than any document we know, shallow enough for every recursive reader behind us. */
const maxDepth = 64;

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\[]{}');

/** Whether JSON text nests deeper than `limit` arrays and objects; reads bytes, never recurses. */
export const nestsDeeperThan = (limit: number, json: Buffer): boolean => {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (inString) {
      if (byte === backslash) at++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > limit) return true;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return false;
};

const refuseUnsafe = (_req: IncomingMessage, _res: ServerResponse, raw: Buffer): void => {
  if (!isUtf8(raw)) throw new BadRequest('malformed_json', 'The body is not valid UTF-8.');
  if (nestsDeeperThan(maxDepth, raw))
    throw new BadRequest('too_deep', `The body nests deeper than ${maxDepth} levels.`);
};

/** The Problem a `verify` hook threw comes back as the cause-less http-error that body-parser made of it. */
const unwrap = (error: unknown): unknown => {
  const type = (error as { type?: unknown }).type;
  return type === 'entity.verify.failed' ? new BadRequest('malformed_json', (error as Error).message) : error;
};

export type BodyReader = (req: express.Request, res: express.Response) => Promise<unknown>;

/**
 * Makes a reader of JSON bodies.
 *
 * `types` are the media types that are taken (else 415), `limit` is in bytes (beyond it 413).
 * An absent body reads as undefined.
 */
export const jsonBody = (types: readonly string[], limit: number): BodyReader => {
  const parse = express.json({ limit, strict: false, type: [...types], verify: refuseUnsafe });
  return async (req, res) => {
    const length = req.headers['content-length'];
    const absent = req.headers['transfer-encoding'] === undefined && (length === undefined || length === '0');
    if (absent) return undefined;
    if (!req.is([...types])) {
      throw new Problem({
        status: 415,
        code: 'unsupported_media_type',
        detail: `Send the body as ${types.join(' or ')}.`,
      });
    }
    await new Promise<void>((resolve, reject) => {
      parse(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(unwrap(error))));
    });
    return req.body as unknown;
  };
};
