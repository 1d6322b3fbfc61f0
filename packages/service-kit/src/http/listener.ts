import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createConcurrencyLimit } from '../overload/concurrency-limit.ts';
import { runInRequestScope, type RequestScope } from '../overload/request-scope.ts';
import type { BaseContext } from '../process/context.ts';
import { makeRequestId, requestIdOf } from '../process/log.ts';
import { createAccessLog, pathOf } from './access-log.ts';
import { createCors } from './cors.ts';
import { createExpressRouter, createMatcher } from './find-route.ts';
import { networkPathOf, widestNetworkOf } from './network.ts';
import { BadRequest, Problem, problemResponse, TooBusy } from './problem.ts';
import { createErrorHandler, send } from './respond.ts';
import type { Params, PreparedRoute } from './run-route.ts';

/** Maximum length of a request target; longer ones get 414. Node.js itself allows 16 kB for all headers. */
const maxTargetLength = 8192;

/** A host name, an IPv4 address or an IPv6 address in brackets, and an optional port (RFC 9110 section 7.2). */
const validHost = /^(?:[\w.~-]{1,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/** Counts the Host headers, because Node.js keeps only the first. `rawHeaders` alternates names and values. */
const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count += 1;
  return count;
};

/** Refuses requests that no service accepts. The Host check of Node.js is off, because its response has no body. */
export const refuseInvalidRequest = (req: IncomingMessage): void => {
  if ((req.url ?? '').length > maxTargetLength)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  const { host, expect } = req.headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    const detail = 'The header Expect may only be 100-continue.';
    throw new Problem({ status: 417, code: 'expectation_failed', detail });
  }
  if (host === undefined) {
    if (req.httpVersion === '1.1') throw new BadRequest('bad_request', 'The Host header is missing.');
  } else if (!validHost.test(host) || countHosts(req) > 1)
    throw new BadRequest('invalid_host', 'The Host header must be one host name and an optional port.');
};

type Client = RequestScope['client'];

const refusal = new TooBusy('Too many requests; try again shortly.');

interface ListenerOptions {
  routes: readonly PreparedRoute[];
  /** Paths of probes, which are never refused for overload. */
  exempt: ReadonlySet<string>;
  /** Origins whose pages may read responses. */
  corsOrigins: readonly string[];
  logPaths: boolean;
}

/**
 * Handles every request in this order: request id, CORS, overload, access log and timer, deadline, checks of the request
 * head. Then the matcher or Express finds the route, and run-route.ts runs it. One error handler answers all errors.
 */
export const createListener = (context: BaseContext, options: ListenerOptions): RequestListener => {
  const { routes, exempt, corsOrigins, logPaths } = options;
  const { log, metrics, database, maxInProgress, requestDeadlineMs, clientAddress } = context;
  const cors = createCors(corsOrigins);
  const concurrency = createConcurrencyLimit(maxInProgress);
  /** Separate, because answered probes are no sign that requests waiting for the database make progress. */
  const probeConcurrency = createConcurrencyLimit(maxInProgress);
  const accessLog = createAccessLog(context, logPaths);
  const handleError = createErrorHandler(log);
  const match = createMatcher(routes.filter(({ fast }) => fast));

  const run = (route: PreparedRoute, req: IncomingMessage, res: ServerResponse, params: Params): void => {
    route.run(req, res, params).catch((error: unknown) => handleError(error, req, res));
  };
  const findWithExpress = createExpressRouter({ routes, accessLog: accessLog.express, run, handleError });

  /** The client's networks and its credential as sent. It is not validated, because refusing a request must be cheap. */
  const clientOf =
    ({ headers }: IncomingMessage, address: string | undefined): Client =>
    () => {
      const { authorization, cookie, 'x-api-key': apiKey } = headers;
      return [...networkPathOf(address), String(authorization ?? apiKey ?? cookie ?? '')];
    };
  const isOverloaded = (
    needsDatabase: boolean,
    { network, client }: Pick<RequestScope, 'network' | 'client'>,
  ): boolean => concurrency.isReached(network) || (needsDatabase && database.queue.refuses(client));

  // Created once, except for the request id: under overload a refusal must cost much less than a response.
  const { headers, body } = problemResponse(refusal, '{id}');
  const [beforeId, afterId] = body.split('{id}');
  /** Refuses a request before it costs a look-up, a body, a password hash or a log line. */
  const refuse = (req: IncomingMessage, res: ServerResponse): void => {
    metrics.recordRefused();
    const bodyWithId = `${beforeId}${requestIdOf(req)}${afterId}`;
    send(req, res, refusal.status, { ...headers, 'Content-Length': bodyWithId.length }, bodyWithId);
  };

  return (req, res) => {
    req.id = makeRequestId(req);
    cors.setHeaders(req, res);
    // Fast routes skip Express, which changes the prototype of the request (slow for later code) and runs all its layers.
    const matched = match(req);
    const address = clientAddress(req);
    const network = widestNetworkOf(address);
    const client = clientOf(req, address);
    const isProbe = matched === undefined && exempt.has(pathOf(req.url ?? ''));
    if (!isProbe && isOverloaded(matched?.route.needsDatabase ?? true, { network, client })) {
      refuse(req, res);
      return;
    }
    accessLog.start(req, res);
    const limits = { deadlineMs: requestDeadlineMs, concurrency: isProbe ? probeConcurrency : concurrency };
    runInRequestScope(req, res, { ...limits, network, client }, () => {
      try {
        refuseInvalidRequest(req);
        if (cors.answerPreflight(req, res)) return;
        if (matched === undefined) findWithExpress(req, res);
        else run(matched.route, req, res, matched.params);
      } catch (error) {
        handleError(error, req, res);
      }
    });
  };
};
