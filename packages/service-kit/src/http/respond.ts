import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import helmet from 'helmet';
import { countUnsent } from '../overload/connections.ts';
import { stopCounting, waitUncounted } from '../overload/request-scope.ts';
import { requestIdOf, type Log } from '../process/log.ts';
import { isOverload, problemResponse, toProblem } from './problem.ts';
import type { AnyAnswer, Deprecation, Route } from './route.ts';

export type Headers = Readonly<Record<string, string | number>>;

/** Helmet's headers for an API, without those that only matter for documents in a browser. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  // Sent by the gateway, which knows whether the client uses TLS.
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: { action: 'deny' },
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
});

/** The security headers: name, value, name, value. They never change, so helmet is called once and not for each request. */
const securityHeaders: string[] = [];
const recorder = { setHeader: (name: string, value: string) => securityHeaders.push(name, value) };
setSecurityHeaders({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);

const addVary = (headers: Headers, name: string): Headers => ({
  ...headers,
  Vary: headers['Vary'] === undefined ? name : `${headers['Vary']}, ${name}`,
});

/** Adds Cache-Control and Vary to a response that depends on a credential, so that no cache returns it to another caller. */
const addCacheHeaders = ({ varyOn, corsHeaders }: ServerResponse, responseHeaders: Headers): Headers => {
  const headers =
    varyOn === undefined
      ? responseHeaders
      : addVary({ 'Cache-Control': 'private, no-store', ...responseHeaders }, varyOn);
  // If CORS is on, every response depends on the origin of the request.
  return corsHeaders === undefined ? headers : addVary(headers, 'Origin');
};

/**
 * The headers of a deprecated operation: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).
 * @throws if `sunset` is before `since`, or a date is invalid
 */
export const deprecationHeaders = ({ since, sunset }: Deprecation): string[] => {
  if (!(since <= sunset)) throw new RangeError('sunset must not be before since');
  return ['Deprecation', `@${Math.trunc(since.getTime() / 1000)}`, 'Sunset', sunset.toUTCString()];
};

/**
 * The headers of a response as a list for `writeHead` (name, value, name, value …): request id, security, rate limit, CORS,
 * deprecation, `responseHeaders`, and cache headers if the route needs a credential. Node.js writes such a list unchanged
 * unless `setHeader` was called before, which costs several times as much.
 */
export const headersOf = (
  req: IncomingMessage,
  res: ServerResponse,
  responseHeaders: Headers = {},
): string[] => {
  const headers = ['X-Request-Id', requestIdOf(req), ...securityHeaders, ...(res.limitHeaders ?? [])];
  headers.push(...(res.corsHeaders ?? []), ...(res.deprecationHeaders ?? []));
  const withCacheHeaders = addCacheHeaders(res, responseHeaders);
  for (const name in withCacheHeaders) headers.push(name, String(withCacheHeaders[name]));
  return headers;
};

/** Sets the same headers on a response that its handler writes itself, piece by piece. */
export const setFixedHeaders = (req: IncomingMessage, res: ServerResponse): void => {
  const headers = headersOf(req, res);
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
};

/** How long the rest of an unread body is read and discarded. */
const drainMs = 2000;

/** Up to this size, letting Node.js discard an unread body costs less than a new connection. */
const maxDiscarded = 65_536;

/** The rest of a body up to this size is read before the response is sent. */
const maxAwaited = 8 * 2 ** 20;

/** The length of an incompletely read body: infinite if it is not declared, 0 if Node.js may discard it. */
const unreadLength = ({ headers, complete }: IncomingMessage): number => {
  if (complete) return 0;
  const length =
    headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
  return length > maxDiscarded ? length : 0;
};

/** Reads and discards the rest of the request body for at most two seconds, then calls `onDone`. */
const discardRest = (req: IncomingMessage, onDone: () => void): void => {
  const finish = () => {
    clearTimeout(timer);
    req.off('end', finish).off('close', finish);
    onDone();
  };
  const timer = setTimeout(finish, drainMs);
  req.once('end', finish).once('close', finish).resume();
};

/**
 * Writes a whole response. If the request body was not read completely, its rest is read first: a proxy that gets a response
 * earlier closes the connection of its client, who may be sending the next request on it. For a body that is very long or
 * does not end, the connection is closed after the response, because the rest would be read as the next request. The rest is
 * still read for two seconds, because a client that is cut off while it writes never reads the response.
 */
export const send = (
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  headers: Headers,
  payload?: string | Buffer,
): void => {
  stopCounting(req.scope);
  const write = (fields: Headers): void => {
    // `answerUnread` may have answered while the rest of the body was read.
    if (res.headersSent) return;
    res.writeHead(status, headersOf(req, res, fields));
    // Most responses are ASCII, which Node.js writes faster as latin1.
    res.end(payload, headers['Content-Length'] === payload?.length ? 'latin1' : 'utf8');
    countUnsent(req, res, Number(headers['Content-Length'] ?? 0));
  };
  const unread = unreadLength(req);
  if (unread === 0) {
    write(headers);
    return;
  }
  const closing = { ...headers, Connection: 'close' };
  if (unread <= maxAwaited) discardRest(req, () => write(req.complete ? headers : closing));
  else {
    res.writeHead(status, headersOf(req, res, closing));
    if (payload !== undefined) res.write(payload);
    discardRest(req, () => res.end());
  }
};

/**
 * Writes the result of a handler. `body` is parsed by the schema of its status, which removes undeclared fields; `rawBody` is
 * sent unchanged. Calls `onLength` with the length of the body before the headers are written.
 */
export const sendAnswer = (
  req: IncomingMessage,
  res: ServerResponse,
  { responses }: Route,
  answer: AnyAnswer,
  onLength: (bytes: number) => void,
): void => {
  const schema = responses[answer.status]?.body;
  const payload = answer.rawBody ?? (schema && JSON.stringify(schema.parse(answer.body)));
  const headers: Record<string, string | number> = { ...answer.headers };
  if (payload !== undefined) {
    headers['Content-Type'] ??= 'application/json; charset=utf-8';
    const length = Buffer.byteLength(payload);
    headers['Content-Length'] = length;
    onLength(length);
  }
  send(req, res, answer.status, headers, payload);
};

/** Answers a failed request with problem+json, and logs the error if the server caused it. */
export type ErrorHandler = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

export const createErrorHandler =
  (log: Log): ErrorHandler =>
  (error, req, res) => {
    const problem = toProblem(error);
    if (problem.status >= 500 && !isOverload(problem.code))
      log.error({ requestId: requestIdOf(req), err: error }, problem.code);
    if (res.headersSent) {
      // A part of the response was already sent; only a broken connection tells the client that it is incomplete.
      res.destroy();
      return;
    }
    res.problemCode = problem.code;
    const { headers, body } = problemResponse(problem, requestIdOf(req));
    send(req, res, problem.status, headers, body);
  };

/**
 * Creates a function that writes text as fast as the client reads. `into` may be a stream that is piped into the response.
 * The function rejects if the client closes the connection or reads nothing for `idleMs`.
 */
export const createSender = (
  res: ServerResponse,
  idleMs: number,
  into: Writable = res,
): ((text: string | Uint8Array) => Promise<void>) => {
  const closed = new AbortController();
  res.once('close', () => closed.abort());
  return async (text) => {
    if (text.length === 0 || into.write(text)) return;
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(idleMs)]);
    const release = countUnsent(res.req, res, text.length);
    try {
      await waitUncounted(() => once(into, 'drain', { signal }));
    } finally {
      release?.();
    }
  };
};
