import type { RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { BaseContext } from '../process/context.ts';
import { directRoutes } from './fast-path.ts';
import { createFail } from './error-handler.ts';
import { headersOf, setFixedHeaders } from './security-headers.ts';
import { healthRoutes } from '../process/health.ts';
import { createMeet } from './request-context.ts';
import { createDocument, type Interface } from './openapi.ts';
import { opsRoutes } from './operations.ts';
import { NotFound, Problem } from './problem.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Route } from './route.ts';
import { runRoute } from './pipeline.ts';

export interface AppOptions {
  about: Interface;
  routes: readonly Route[];
  /** False where paths hold secrets: then only route templates are logged. */
  logPaths?: boolean;
}

export interface HttpApp {
  /** Takes every request: the way in. */
  listener: RequestListener;
  /** The OpenAPI document that `/openapi.json` answers. */
  document: Record<string, unknown>;
}

const refuseMethod =
  (allow: string): RequestHandler =>
  (req, res) => {
    if (req.method === 'OPTIONS') {
      res.writeHead(204, headersOf(req, { Allow: allow })).end();
      return;
    }
    res.setHeader('Allow', allow);
    throw new Problem({ status: 405, code: 'method_not_allowed', detail: `This address takes ${allow}.` });
  };

const mount = (
  app: Express,
  routes: readonly Route[],
  basePath: string,
  rateLimit: RateLimit | undefined,
): void => {
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    const address = app.route(basePath + path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const route of group) address[route.method](runRoute(route, basePath + path, rateLimit));
    const allow = group.flatMap(({ method }) =>
      method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
    );
    address.all(refuseMethod(allow.join(', ')));
  }
};

const noSuchPath: RequestHandler = () => {
  throw new NotFound('path');
};

/**
 * An Express app in one visible order: what each request meets → rooms → health → 404 → problem; and
 * before it the direct routes. Routes and problems write their own headers. Bodies are read inside a
 * route, after its caller is known.
 */
export const createHttpApp = (
  context: BaseContext,
  { about, routes, logPaths = true }: AppOptions,
): HttpApp => {
  const { log, metrics, health, rateLimit, trustProxy } = context;
  const { basePath } = about;
  const document = createDocument(about, routes);
  const meet = createMeet(log, metrics, logPaths);
  const fail = createFail(log);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', () => ({}));
  app.set('trust proxy', trustProxy);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use((req, res, next) => {
    meet(req, res);
    next();
  });
  mount(app, routes, basePath, rateLimit);
  app.use((req, res, next) => {
    setFixedHeaders(req, res);
    next();
  });
  app.use(healthRoutes(health, metrics));
  app.use(opsRoutes(context));
  app.get('/openapi.json', (_req, res) => {
    res.json(document);
  });
  app.use(noSuchPath);
  app.use(((error, req, res, _next) => fail(error, req, res)) satisfies ErrorRequestHandler);
  // Whom a limit counts against is Express's to say: it knows which proxies may be believed.
  const direct = routes.filter((route) => route.direct && (route.unlimited || !rateLimit));
  return { listener: directRoutes(direct, { basePath, meet, fail, next: app }), document };
};
