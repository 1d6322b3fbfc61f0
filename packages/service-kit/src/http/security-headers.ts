import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import { requestIdOf } from '../process/log.ts';

/** Helmet's policy for an API: what only concerns documents that a browser shows is left out. */
const policy = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: { action: 'deny' },
  xPermittedCrossDomainPolicies: false,
  xPoweredBy: false,
  xXssProtection: false,
});

/** Helmet's headers never change, so it is called once and not for each request. */
const recordHeaders = (): string[] => {
  const headers: string[] = [];
  const recorder = { setHeader: (name: string, value: string) => headers.push(name, value) };
  policy({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    if (error !== undefined) throw new Error('helmet failed', { cause: error });
  });
  return headers;
};

const fixed = recordHeaders();

declare module 'node:http' {
  interface ServerResponse {
    /** Request headers that hold the credential of this route (`Vary`); undefined where none is read. */
    varyOn?: string | undefined;
  }
}

/** What an answer that depends on a credential must say, so that no cache gives it to another caller. */
const cacheHeaders = ({ varyOn }: ServerResponse, own: Headers): Headers =>
  varyOn === undefined
    ? own
    : {
        'Cache-Control': 'private, no-store',
        ...own,
        Vary: own['Vary'] === undefined ? varyOn : `${own['Vary']}, ${varyOn}`,
      };

type Headers = Readonly<Record<string, string | number>>;

/**
 * The headers of an answer as `writeHead` takes them (name, value, name, value …): the request's id,
 * the security headers, `own`, and the cache rules of a route with a credential. One call of
 * `writeHead` costs a fraction of many calls of `setHeader`.
 */
export const headersOf = (req: IncomingMessage, res: ServerResponse, own: Headers = {}): string[] => {
  const headers = ['X-Request-Id', requestIdOf(req), ...fixed];
  const all = cacheHeaders(res, own);
  for (const name in all) headers.push(name, String(all[name]));
  return headers;
};

/** Sets the same headers on an answer that its handler writes itself. */
export const setFixedHeaders = (req: IncomingMessage, res: ServerResponse): void => {
  const headers = headersOf(req, res);
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
};
