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

/** Helmet's headers for an API, without those that only concern documents in a browser. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  // The gateway sends it, which knows whether the client uses TLS.
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: { action: 'deny' },
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
});

/** They never change, so helmet is called once and not for each request. */
const securityHeaders: string[] = [];
const recorder = { setHeader: (name: string, value: string) => securityHeaders.push(name, value) };
setSecurityHeaders({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);

const withVary = (headers: Headers, name: string): Headers => ({
  ...headers,
  Vary: headers['Vary'] === undefined ? name : `${headers['Vary']}, ${name}`,
});

/** Adds what an answer that depends on a credential must say, so that no cache gives it to another caller. */
const withCacheRules = ({ varyOn, corsHeaders }: ServerResponse, own: Headers): Headers => {
  const headers =
    varyOn === undefined ? own : withVary({ 'Cache-Control': 'private, no-store', ...own }, varyOn);
  // Where some origins are allowed, every answer depends on the origin that asked.
  return corsHeaders === undefined ? headers : withVary(headers, 'Origin');
};

/**
 * What every answer of a deprecated operation says: `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).
 * @throws when it ends before it is deprecated, or a date is invalid
 */
export const deprecationHeaders = ({ since, sunset }: Deprecation): string[] => {
  if (!(since <= sunset)) throw new RangeError('sunset must not be before since');
  return ['Deprecation', `@${Math.trunc(since.getTime() / 1000)}`, 'Sunset', sunset.toUTCString()];
};

/**
 * The headers of an answer as `writeHead` takes them (name, value, name, value …): request id, security headers, rate
 * limit, deprecation, `own`, and the cache rules of a route with a credential. Node writes such a list as it is, as long as no
 * header was set with `setHeader` before; otherwise it costs several times as much.
 */
export const headersOf = (req: IncomingMessage, res: ServerResponse, own: Headers = {}): string[] => {
  const headers = ['X-Request-Id', requestIdOf(req), ...securityHeaders, ...(res.limitHeaders ?? [])];
  headers.push(...(res.corsHeaders ?? []), ...(res.deprecationHeaders ?? []));
  const all = withCacheRules(res, own);
  for (const name in all) headers.push(name, String(all[name]));
  return headers;
};

/** Sets the same headers on an answer that its handler writes itself, piece by piece. */
export const setFixedHeaders = (req: IncomingMessage, res: ServerResponse): void => {
  const headers = headersOf(req, res);
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
};

/** How long the rest of an unread body is read and thrown away. */
const drainMs = 2000;

/** Node.js discards an unread body; up to this size that costs less than a new connection. */
const maxDiscarded = 65_536;

/** The rest of a body up to this size is awaited before the answer. */
const maxAwaited = 8 * 2 ** 20;

/** The length of a body whose rest is not read; infinite when it is not declared, 0 when Node.js may discard it. */
const unreadLength = ({ headers, complete }: IncomingMessage): number => {
  if (complete) return 0;
  const length =
    headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
  return length > maxDiscarded ? length : 0;
};

/** Reads the rest of the body for a moment, and throws it away. */
const discardRest = (req: IncomingMessage, then: () => void): void => {
  const end = () => {
    clearTimeout(timer);
    req.off('end', end).off('close', end);
    then();
  };
  const timer = setTimeout(end, drainMs);
  req.once('end', end).once('close', end).resume();
};

/**
 * Writes a whole answer. When the body of the request was not read to its end, its rest is awaited for a moment: a proxy
 * that gets an answer earlier closes the connection of its client, who may send the next request on it. After an answer
 * to a body that is very long, or does not end, the connection closes, because the rest would be taken for the next
 * request; the rest is still read for a moment, because a sender that is cut off while it writes never reads the answer.
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
    // While the rest of the body was awaited, the connection may have been ended (`answerUnread`).
    if (res.headersSent) return;
    res.writeHead(status, headersOf(req, res, fields));
    // Most answers are ASCII, which Node writes faster when it need not encode it.
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
 * Writes what a handler answered. A `body` is shaped by the schema of its status, so that a field that is not declared
 * never leaves the service; `rawBody` is sent as it is. Calls `onLength` with the length of the body before it writes the
 * headers.
 */
export const sendAnswer = (
  req: IncomingMessage,
  res: ServerResponse,
  { responses }: Route,
  answer: AnyAnswer,
  onLength: (bytes: number) => void,
): void => {
  const shape = responses[answer.status]?.body;
  const payload = answer.rawBody ?? (shape && JSON.stringify(shape.parse(answer.body)));
  const headers: Record<string, string | number> = { ...answer.headers };
  if (payload !== undefined) {
    headers['Content-Type'] ??= 'application/json; charset=utf-8';
    const length = Buffer.byteLength(payload);
    headers['Content-Length'] = length;
    onLength(length);
  }
  send(req, res, answer.status, headers, payload);
};

/** Answers a request that failed with problem+json, and logs the error when it is the server's fault. */
export type ErrorHandler = (error: unknown, req: IncomingMessage, res: ServerResponse) => void;

export const createErrorHandler =
  (log: Log): ErrorHandler =>
  (error, req, res) => {
    const problem = toProblem(error);
    if (problem.status >= 500 && !isOverload(problem.code))
      log.error({ requestId: requestIdOf(req), err: error }, problem.code);
    if (res.headersSent) {
      // Part of an answer is on the wire; only a broken connection tells the client that it is not whole.
      res.destroy();
      return;
    }
    res.problemCode = problem.code;
    const { headers, body } = problemResponse(problem, requestIdOf(req));
    send(req, res, problem.status, headers, body);
  };

/**
 * Sends text as fast as the client reads, also `into` a stream that ends in the response. Rejects when the client has gone
 * away or has read nothing for `idleMs`.
 */
export const createSender = (
  res: ServerResponse,
  idleMs: number,
  into: Writable = res,
): ((text: string | Uint8Array) => Promise<void>) => {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return async (text) => {
    if (text.length === 0 || into.write(text)) return;
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(idleMs)]);
    const release = countUnsent(res.req, res, text.length);
    try {
      await waitUncounted(() => once(into, 'drain', { signal }));
    } finally {
      release?.();
    }
  };
};
