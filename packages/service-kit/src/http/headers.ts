import type {} from './message-fields.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import { requestIdOf } from '../process/log.ts';
import type { Deprecation } from './route.ts';

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
