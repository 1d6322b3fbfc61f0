import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { NotFound, Problem } from './problem.ts';
import { send, type ErrorHandler } from './respond.ts';
import type { Params, PreparedRoute } from './run-route.ts';

interface RouterOptions {
  routes: readonly PreparedRoute[];
  /** Runs first, as middleware. */
  accessLog: RequestHandler;
  /** Called with the route that Express found. */
  run: (route: PreparedRoute, req: IncomingMessage, res: ServerResponse, params: Params) => void;
  handleError: ErrorHandler;
}

/** Answers methods that a path does not support: OPTIONS with Allow, others with 405. */
const refuseMethod =
  (allow: string): RequestHandler =>
  (req, res) => {
    if (req.method === 'OPTIONS') {
      send(req, res, 204, { Allow: allow });
      return;
    }
    const detail = `This address supports ${allow}.`;
    throw new Problem({ status: 405, code: 'method_not_allowed', detail, headers: { Allow: allow } });
  };

/** Creates an Express app that only finds the route of a request and its path parameters. */
export const createExpressRouter = (options: RouterOptions): RequestListener => {
  const { routes, accessLog, run, handleError } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', () => ({}));
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(accessLog);
  for (const [address, group] of Map.groupBy(routes, (route) => route.address)) {
    const path = app.route(address.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of group) path[route.method]((req, res) => run(route, req, res, req.params));
    const allow = group.flatMap(({ method }) =>
      method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
    );
    path.all(refuseMethod(allow.join(', ')));
  }
  app.use(() => {
    throw new NotFound('path');
  });
  // Also receives errors of Express itself, for example for a path with an invalid escape.
  app.use(((error, req, res, _next) => handleError(error, req, res)) satisfies ErrorRequestHandler);
  return app;
};

/** Finds the route of a request and its path parameters; undefined if no route matches. */
type Matcher = (req: IncomingMessage) => { route: PreparedRoute; params: Params } | undefined;

/** Matches only targets without escapes; Express handles all others. */
const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#%]+)')}(?:\\?|$)`);

/**
 * Finds fast routes without Express (docs/adr/0009). Express also has these routes, for HEAD, OPTIONS, other methods and
 * other spellings of the address.
 */
export const createMatcher = (routes: readonly PreparedRoute[]): Matcher => {
  const candidates = routes.map((route) => ({
    route,
    method: route.method.toUpperCase(),
    prefix: route.address.split('{', 1)[0] ?? route.address,
    pattern: patternOf(route.address),
  }));
  return ({ method: requestMethod, url = '' }) => {
    for (const { route, method, prefix, pattern } of candidates) {
      const match = requestMethod === method && url.startsWith(prefix) ? pattern.exec(url) : null;
      if (match !== null) return { route, params: match.groups ?? {} };
    }
    return undefined;
  };
};
