import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';
import { requestIdOf } from './log.ts';

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

/** The headers never change, so helmet is asked once and not for each request. */
const fixedHeaders = (): [string, string][] => {
  const headers: [string, string][] = [];
  const recorder = { setHeader: (name: string, value: string) => headers.push([name, value]) };
  policy({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    if (error !== undefined) throw new Error('helmet has no headers for us', { cause: error });
  });
  return headers;
};

/** Puts the request's id and the security headers on every answer. */
export const answerFixedHeaders = (): RequestHandler => {
  const headers = fixedHeaders();
  return (req, res, next) => {
    res.setHeader('X-Request-Id', requestIdOf(req));
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
};
