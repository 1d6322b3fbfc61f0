import type { RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { BaseContext } from '../process/context.ts';
import { createRequestLimit } from '../process/request-limit.ts';
import { cancelWithRequest } from '../process/request-scope.ts';
import { allowOrigins, answerPreflight } from './cors.ts';
import { createFastPath } from './fast-path.ts';
import { createDocument, type ApiInfo } from './openapi.ts';
import { systemRoutes, probePaths } from './system-routes.ts';
import { createHandler, type Limits } from './pipeline.ts';
import { createOverloadResponse } from './overload-response.ts';
import { NotFound, Problem } from './problem.ts';
import { createRequestContext, pathOf } from './request-context.ts';
import { createErrorHandler, send } from './respond.ts';
import type { Route } from './route.ts';

export interface AppOptions {
  api: ApiInfo;
  routes: readonly Route[];
  /** False when paths contain secrets: then the log has route templates only. */
  logPaths?: boolean;
}

export interface HttpApp {
  /** Handles every request. */
  listener: RequestListener;
  /** Handles requests to PROBE_PORT: /livez, /readyz and /metrics. */
  probes: RequestListener;
  /** The OpenAPI document that `/openapi.json` answers. */
  document: Record<string, unknown>;
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

/** Adds the routes to Express. Without `basePath` (operation paths) they have no template for logs and metrics. */
const mount = (app: Express, routes: readonly Route[], limits: Limits, basePath?: string): void => {
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    const template = basePath === undefined ? undefined : basePath + path;
    const address = app.route((template ?? path).replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of group) address[route.method](createHandler(route, template, limits));
    const allow = group.flatMap(({ method }) =>
      method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
    );
    address.all(refuseMethod(allow.join(', ')));
  }
};

const createExpress = (): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', () => ({}));
  app.enable('case sensitive routing');
  app.enable('strict routing');
  return app;
};

/**
 * Creates the two request paths of a service: the fast path for fast routes, Express for all other requests. Both run
 * request context → pipeline (pipeline.ts) → error handler.
 */
export const createHttpApp = (
  context: BaseContext,
  { api, routes, logPaths = true }: AppOptions,
): HttpApp => {
  const { basePath } = api;
  const document = createDocument(api, routes);
  const requestContext = createRequestContext(context, logPaths);
  const handleError = createErrorHandler(context.log);

  const createWith = (mountAll: (app: Express) => void): Express => {
    const app = createExpress();
    app.use((req, res, next) => {
      requestContext.express(req, res);
      next();
    });
    app.use(answerPreflight);
    mountAll(app);
    app.use(() => {
      throw new NotFound('path');
    });
    app.use(((error, req, res, _next) => handleError(error, req, res)) satisfies ErrorRequestHandler);
    return app;
  };
  const operations = systemRoutes(context, document);
  const app = createWith((all) => {
    mount(all, routes, context, basePath);
    mount(all, operations, context);
  });
  const probeRoutes = operations.filter(({ path }) => probePaths.includes(path));
  const probes = createWith((all) => mount(all, probeRoutes, context));

  const fast = routes.filter((route) => route.fast);
  const exempt = new Set(operations.map(({ path }) => path));
  const refuse = createOverloadResponse(context.metrics);
  /** Health and other operation paths are never refused. */
  const admit =
    (isFull: () => boolean, next: RequestListener): RequestListener =>
    (req, res) => {
      if (isFull() && !exempt.has(pathOf(req.url ?? ''))) refuse(req, res);
      else next(req, res);
    };
  const next = admit(() => context.database.queue.isFull(), app);
  const options = { basePath, limits: context, requestContext: requestContext.fast, handleError, next };
  const limit = createRequestLimit(context.maxInProgress);
  const routed = cancelWithRequest(createFastPath(fast, options), context.requestDeadlineMs, limit);
  const listener = allowOrigins(admit(limit.isReached, routed), context.corsOrigins);
  return { listener, probes, document };
};
