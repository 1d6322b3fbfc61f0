import type { IncomingMessage, ServerResponse } from 'node:http';
import { pinoHttp, type HttpLogger } from 'pino-http';
import type { BaseContext } from '../process/context.ts';
import { makeRequestId, requestIdOf } from '../process/log.ts';
import { BadRequest, Problem } from './problem.ts';

declare module 'http' {
  interface ServerResponse {
    /** Template of the route that answers: what logs, metrics and traces call it. Undefined for operation paths. */
    template?: string | undefined;
    /** False where a request that succeeds writes no line. */
    logSuccess?: false | undefined;
  }
}

const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/** 499: the client went away before there was an answer (as nginx counts it). */
const statusOf = ({ headersSent, statusCode }: ServerResponse): number => (headersSent ? statusCode : 499);

type Context = Pick<BaseContext, 'log' | 'metrics' | 'requestLog'>;

/**
 * Gives each request its id and a log bound to it, and writes one line when the request is over: id, method, route,
 * status, path (where `logPaths`) and time in ms. Neither headers nor query strings are logged.
 */
const createRequestLog = ({ log, requestLog }: Context, logPaths: boolean): HttpLogger => {
  const successLevel = requestLog === 'all' ? 'info' : 'silent';
  const line = (req: IncomingMessage, res: ServerResponse, { ms }: { ms: number }) => ({
    method: req.method,
    route: res.template,
    status: statusOf(res),
    path: logPaths ? pathOf(req.url ?? '') : undefined,
    ms,
  });
  return pinoHttp({
    logger: log,
    genReqId: makeRequestId,
    // Bound to the id alone; pino-http would serialise the whole request.
    customAttributeKeys: { req: 'requestId', responseTime: 'ms' },
    serializers: { requestId: requestIdOf },
    wrapSerializers: false,
    customLogLevel: (_req, { statusCode, writableFinished, logSuccess }) => {
      if (statusCode >= 500) return 'error';
      if (statusCode >= 400 || !writableFinished) return 'info';
      return logSuccess === false ? 'silent' : successLevel;
    },
    customSuccessObject: line,
    customSuccessMessage: (_req, res) => (res.writableFinished ? 'answered' : 'client went away'),
    customErrorObject: (req, res, _error, values) => line(req, res, values),
    customErrorMessage: () => 'failed',
  });
};

/** Longer request targets are 414; Node itself gives up at 16 kB of headers in all. */
const maxTarget = 8192;

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 9110 section 7.2). */
const validHost = /^(?:[\w.~-]{1,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/** Node.js keeps the first of several Host headers; rawHeaders has names and values in turn. */
const countHosts = ({ rawHeaders }: IncomingMessage): number =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && /host/i.test(name)).length;

/** Refuses what no service accepts. Node's own check of Host is off, because its response has no body. */
const refuseInvalidRequest = (req: IncomingMessage): void => {
  if ((req.url ?? '').length > maxTarget)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  const { host } = req.headers;
  if (host === undefined) {
    if (req.httpVersion === '1.1') throw new BadRequest('bad_request', 'The Host header is missing.');
  } else if (!validHost.test(host) || countHosts(req) > 1)
    throw new BadRequest('invalid_host', 'The Host header must be one host name and an optional port.');
};

/** Runs first for every request. Throws BadRequest or Problem 414. */
export type RequestContext = (req: IncomingMessage, res: ServerResponse) => void;

/** Assigns the request id, starts the timer of log and metrics, and refuses invalid targets and hosts. */
export const createRequestContext = (context: Context, logPaths: boolean): RequestContext => {
  const { metrics } = context;
  const startLog = createRequestLog(context, logPaths);
  return (req, res) => {
    const start = performance.now();
    startLog(req, res);
    res.on('close', () =>
      metrics.record(req.method ?? '', res.template, statusOf(res), performance.now() - start),
    );
    refuseInvalidRequest(req);
  };
};
