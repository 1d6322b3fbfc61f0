import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { NotFound, Problem } from './problem.ts';
import { send, type ErrorHandler } from './respond.ts';
import type { Params, PreparedRoute } from './run-route.ts';

interface RouterOptions {
  routes: readonly PreparedRoute[];
  /** Runs first, as middleware. */
  accessLog: RequestHandler;
  /** Called with the route that Express has found. */
  run: (route: PreparedRoute, req: IncomingMessage, res: ServerResponse, params: Params) => void;
  handleError: ErrorHandler;
}

/** Answers the methods that a path does not have: OPTIONS with Allow, others with 405. */
const refuseMethod =
  (allow: string): RequestHandler =>
  (req, res) => {
    if (req.method === 'OPTIONS') {
      send(req, res, 204, { Allow: allow });
      return;
    }
    const detail = `This address takes ${allow}.`;
    throw new Problem({ status: 405, code: 'method_not_allowed', detail, headers: { Allow: allow } });
  };

/** Express, which finds the route of a request and its parameters: all that it is used for. */
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
  // What is thrown above, and what Express itself throws, such as for an escape in a path that cannot be decoded.
  app.use(((error, req, res, _next) => handleError(error, req, res)) satisfies ErrorRequestHandler);
  return app;
};

/** Finds the route of a request, and the parameters in its path; undefined when it is for none of the routes. */
type Matcher = (req: IncomingMessage) => { route: PreparedRoute; params: Params } | undefined;

/** Matches targets without escapes; everything else about an address is left to Express. */
const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#%]+)')}(?:\\?|$)`);

/**
 * Finds fast routes without Express (docs/adr/0009). Express has these routes too: for HEAD, OPTIONS, other methods and
 * other spellings of the address.
 */
export const createMatcher = (routes: readonly PreparedRoute[]): Matcher => {
  const table = routes.map((route) => ({
    route,
    method: route.method.toUpperCase(),
    prefix: route.address.split('{', 1)[0] ?? route.address,
    pattern: patternOf(route.address),
  }));
  return ({ method: sent, url = '' }) => {
    for (const { route, method, prefix, pattern } of table) {
      const match = sent === method && url.startsWith(prefix) ? pattern.exec(url) : null;
      if (match !== null) return { route, params: match.groups ?? {} };
    }
    return undefined;
  };
};
