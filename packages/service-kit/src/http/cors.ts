import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { send } from './respond.ts';

declare module 'http' {
  interface ServerResponse {
    /** CORS headers (name, value …); undefined where no origin is allowed, empty for an origin that is not. */
    corsHeaders?: readonly string[] | undefined;
  }
}

/** Response headers that a page of another origin may read, beside those that CORS allows always. */
const exposed = 'ETag, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id';

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const preflightSeconds = '600';

/** Lets pages of these origins read what `next` answers. Credentials of the browser (cookies) are never allowed. */
export const allowOrigins = (next: RequestListener, origins: readonly string[]): RequestListener => {
  if (origins.length === 0) return next;
  const allowed = new Map(
    origins.map((origin) => [
      origin,
      ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed],
    ]),
  );
  return (req, res) => {
    res.corsHeaders = allowed.get(req.headers.origin ?? '') ?? [];
    next(req, res);
  };
};

const isPreflight = ({ method, headers }: IncomingMessage, { corsHeaders }: ServerResponse): boolean =>
  method === 'OPTIONS' &&
  headers['access-control-request-method'] !== undefined &&
  (corsHeaders?.length ?? 0) > 0;

/** Answers a preflight request of an allowed origin, whatever methods the address has. */
export const answerPreflight: RequestHandler = (req, res, next) => {
  if (!isPreflight(req, res)) {
    next();
    return;
  }
  const wanted = req.headers['access-control-request-headers'];
  send(req, res, 204, {
    'Access-Control-Allow-Methods': methods,
    ...(wanted !== undefined &&
      /^[\w-]+(?:, ?[\w-]+)*$/.test(wanted) && { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': preflightSeconds,
    Vary: 'Access-Control-Request-Headers',
  });
};
