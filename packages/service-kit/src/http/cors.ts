import type { IncomingMessage, ServerResponse } from 'node:http';
import { send } from './respond.ts';

/** Response headers that a page of another origin may read, in addition to those that CORS always allows. */
const exposedHeaders =
  'Deprecation, ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, X-Request-Id';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const preflightSeconds = '600';

/** Whether this is a preflight request from an allowed origin, for which `setHeaders` has set headers. */
const isAllowedPreflight = ({ method, headers }: IncomingMessage, { corsHeaders }: ServerResponse): boolean =>
  method === 'OPTIONS' &&
  headers['access-control-request-method'] !== undefined &&
  (corsHeaders?.length ?? 0) > 0;

/** Lets pages of these origins read responses. Cookies and other browser credentials are never allowed. */
export const createCors = (origins: readonly string[]) => {
  const headersByOrigin = new Map(
    origins.map((origin) => [
      origin,
      ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposedHeaders],
    ]),
  );
  return {
    /** Sets the CORS headers on the response object; `headersOf` in respond.ts writes them with the others. */
    setHeaders: (req: IncomingMessage, res: ServerResponse): void => {
      if (headersByOrigin.size > 0) res.corsHeaders = headersByOrigin.get(req.headers.origin ?? '') ?? [];
    },
    /** Answers a preflight request from an allowed origin. Returns false for any other request. */
    answerPreflight: (req: IncomingMessage, res: ServerResponse): boolean => {
      if (!isAllowedPreflight(req, res)) return false;
      const requestedHeaders = req.headers['access-control-request-headers'];
      send(req, res, 204, {
        'Access-Control-Allow-Methods': methods,
        ...(requestedHeaders !== undefined &&
          /^[\w-]+(?:, ?[\w-]+)*$/.test(requestedHeaders) && {
            'Access-Control-Allow-Headers': requestedHeaders,
          }),
        'Access-Control-Max-Age': preflightSeconds,
        Vary: 'Access-Control-Request-Headers',
      });
      return true;
    },
  };
};
