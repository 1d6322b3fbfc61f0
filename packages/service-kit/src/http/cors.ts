import type { IncomingMessage, ServerResponse } from 'node:http';
import { send } from './respond.ts';

/** Response headers that a page of another origin may read, beside those that CORS allows always. */
const exposed = 'Deprecation, ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, X-Request-Id';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const preflightSeconds = '600';

/** Of an origin that is allowed: `rememberHeaders` has found headers for it. */
const isAllowedPreflight = ({ method, headers }: IncomingMessage, { corsHeaders }: ServerResponse): boolean =>
  method === 'OPTIONS' &&
  headers['access-control-request-method'] !== undefined &&
  (corsHeaders?.length ?? 0) > 0;

/** Lets pages of these origins read what is answered. Credentials of the browser (cookies) are never allowed. */
export const createCors = (origins: readonly string[]) => {
  const allowed = new Map(
    origins.map((origin) => [
      origin,
      ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed],
    ]),
  );
  return {
    /** Keeps the headers with the response; `headers.ts` writes them with the others. */
    rememberHeaders: (req: IncomingMessage, res: ServerResponse): void => {
      if (allowed.size > 0) res.corsHeaders = allowed.get(req.headers.origin ?? '') ?? [];
    },
    /** Answers a preflight request of an allowed origin, whatever methods the address has. False for any other request. */
    answerPreflight: (req: IncomingMessage, res: ServerResponse): boolean => {
      if (!isAllowedPreflight(req, res)) return false;
      const wanted = req.headers['access-control-request-headers'];
      send(req, res, 204, {
        'Access-Control-Allow-Methods': methods,
        ...(wanted !== undefined &&
          /^[\w-]+(?:, ?[\w-]+)*$/.test(wanted) && { 'Access-Control-Allow-Headers': wanted }),
        'Access-Control-Max-Age': preflightSeconds,
        Vary: 'Access-Control-Request-Headers',
      });
      return true;
    },
  };
};
