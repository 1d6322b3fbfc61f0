import type { RequestListener } from 'node:http';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
} from 'express';
import type { BaseContext } from './context.ts';
import { headersOf, setFixedHeaders } from './headers.ts';
import { healthRoutes } from './health.ts';
import { requestIdOf, requestLog, type Log } from './log.ts';
import { observe } from './observe.ts';
import { createDocument, type Interface } from './openapi.ts';
import { opsRoutes } from './ops.ts';
import { BadRequest, NotFound, Problem, problemBody, toProblem } from './problem.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Route } from './route.ts';
import { runRoute } from './run-route.ts';

export interface AppOptions {
  about: Interface;
  routes: readonly Route[];
  /** False where paths hold secrets: then only route templates are logged. */
  logPaths?: boolean;
}

export interface HttpApp {
  express: Express;
  /** Takes requests in place of `express` and passes on what is not its own; for paths that must be short. */
  listener?: RequestListener;
  /** The OpenAPI document that `/openapi.json` answers. */
  document: Record<string, unknown>;
}

/** Longer request targets are 414; Node itself gives up at 16 kB of headers in all. */
const maxTarget = 8192;

const refuseOddRequest = (req: Request): void => {
  if (req.url.length > maxTarget)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  // Node is told not to check this itself, because its own answer has no body.
  if (req.headers.host === undefined && req.httpVersion === '1.1')
    throw new BadRequest('bad_request', 'The Host header is missing.');
};

/** What each request meets first, as one layer: every further one costs as much as what these do. */
const meet = ({ log, metrics }: BaseContext, logPaths: boolean): RequestHandler => {
  const name = requestLog(log);
  const watch = observe(log, metrics, logPaths);
  return (req, res, next) => {
    name(req, res);
    watch(req, res);
    refuseOddRequest(req);
    next();
  };
};

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

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const answerProblem =
  (log: Log): ErrorRequestHandler =>
  (error, req, res, _next) => {
    const problem = toProblem(error);
    if (problem.status >= 500) (req.log ?? log).error({ err: error }, problem.code);
    if (res.headersSent) {
      // Half an answer is on the wire; cutting the connection is the only honest end.
      res.destroy();
      return;
    }
    const body = JSON.stringify(problemBody(problem, requestIdOf(req)));
    // A body that was not read to its end would be taken for the next request.
    const close = hasBody(req) && !req.complete ? { Connection: 'close' } : {};
    const headers = {
      ...problem.headers,
      ...close,
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
    };
    res.writeHead(problem.status, headersOf(req, headers)).end(body);
  };

/**
 * An Express app in one visible order: log and request id → its line and metrics → rooms → health →
 * 404 → problem. Routes and problems write their own headers. Bodies are read inside a route, after its caller is known.
 */
export const createHttpApp = (
  context: BaseContext,
  { about, routes, logPaths = true }: AppOptions,
): HttpApp => {
  const { log, metrics, health, rateLimit, trustProxy } = context;
  const document = createDocument(about, routes);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', () => ({}));
  app.set('trust proxy', trustProxy);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(meet(context, logPaths));
  mount(app, routes, about.basePath, rateLimit);
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
  app.use(answerProblem(log));
  return { express: app, document };
};
