import type { IncomingMessage, ServerResponse } from 'node:http';
import { pinoHttp, type HttpLogger } from 'pino-http';
import type { BaseContext } from '../process/context.ts';
import { makeRequestId, requestIdOf, writeLine, type Log } from '../process/log.ts';
import { networkOf } from './network.ts';
import { BadRequest, isOverload, Problem } from './problem.ts';

declare module 'http' {
  interface ServerResponse {
    /** Template of the route that answers: what logs, metrics and traces call it. Undefined for operation paths. */
    template?: string | undefined;
    /** False where a request that succeeds writes no line. */
    logSuccess?: false | undefined;
    /** `code` of the problem that was answered, for the log. */
    problemCode?: string | undefined;
  }
}

/** The path of a request target, without its query. */
export const pathOf = (target: string): string => {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
};

/** 499: the client went away before there was an answer (as nginx counts it). */
const statusOf = ({ headersSent, statusCode }: ServerResponse): number => (headersSent ? statusCode : 499);

type Context = Pick<BaseContext, 'log' | 'metrics' | 'requestLog' | 'changed' | 'clientAddress' | 'refusals'>;

/** The line that is written when a request is over: what it says, its level and its message. */
interface AccessLine {
  fieldsOf(req: IncomingMessage, res: ServerResponse, ms: number): object;
  /** Called once for each request: refusals that repeat themselves are silent. */
  levelOf(req: IncomingMessage, res: ServerResponse): 'error' | 'info' | 'silent';
  messageOf(res: ServerResponse): string;
}

/** Why a request was refused, as one of few texts; undefined when it was not. */
const refusalOf = (res: ServerResponse): string | undefined => {
  const [status, { problemCode, template = 'no route' }] = [statusOf(res), res];
  if (status < 400 || (status >= 500 && !isOverload(problemCode))) return undefined;
  return [status, ...(problemCode === undefined ? [] : [problemCode]), template].join(' ');
};

/** Method, route, status, code of the problem, path (where `logPaths`) and time in ms. Neither headers nor query strings are logged. */
const createAccessLine = (
  { requestLog, clientAddress, refusals }: Context,
  logPaths: boolean,
): AccessLine => {
  const successLevel = requestLog === 'all' ? 'info' : 'silent';
  return {
    fieldsOf: (req, res, ms) => ({
      method: req.method,
      route: res.template,
      status: statusOf(res),
      code: res.problemCode,
      path: logPaths ? pathOf(req.url ?? '') : undefined,
      ms,
    }),
    levelOf: (req, res) => {
      const { statusCode, writableFinished, logSuccess, problemCode } = res;
      if (statusCode >= 500 && !isOverload(problemCode)) return 'error';
      const reason = refusalOf(res);
      if (reason !== undefined)
        return refusals.sample(reason, networkOf(clientAddress(req))) ? 'info' : 'silent';
      if (!writableFinished) return 'info';
      return logSuccess === false ? 'silent' : successLevel;
    },
    messageOf: ({ statusCode, writableFinished, problemCode }) => {
      if (isOverload(problemCode)) return 'refused';
      if (statusCode >= 500) return 'failed';
      return writableFinished ? 'answered' : 'client went away';
    },
  };
};

/** The line by pino-http, for requests that Express handles. */
const createExpressLog = (log: Log, { fieldsOf, levelOf, messageOf }: AccessLine): HttpLogger =>
  pinoHttp({
    logger: log,
    genReqId: makeRequestId,
    // Bound to the id alone; pino-http would serialise the whole request.
    customAttributeKeys: { req: 'requestId', responseTime: 'ms' },
    serializers: { requestId: requestIdOf },
    wrapSerializers: false,
    customLogLevel: levelOf,
    customSuccessObject: (req, res, { ms }: { ms: number }) => fieldsOf(req, res, ms),
    customSuccessMessage: (_req, res) => messageOf(res),
    customErrorObject: (req, res, _error, { ms }: { ms: number }) => fieldsOf(req, res, ms),
    customErrorMessage: (_req, res) => messageOf(res),
  });

/** Longer request targets are 414; Node itself gives up at 16 kB of headers in all. */
const maxTarget = 8192;

/** A host name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 9110 section 7.2). */
const validHost = /^(?:[\w.~-]{1,255}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;

/** Node.js keeps the first of several Host headers; rawHeaders has names and values in turn. */
const countHosts = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count += 1;
  return count;
};

/** Refuses what no service accepts. Node's own check of Host is off, because its response has no body. */
const refuseInvalidRequest = (req: IncomingMessage): void => {
  if ((req.url ?? '').length > maxTarget)
    throw new Problem({ status: 414, code: 'uri_too_long', detail: 'The request target is too long.' });
  const { host, expect } = req.headers;
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    const detail = 'Only 100-continue is understood.';
    throw new Problem({ status: 417, code: 'expectation_failed', detail });
  }
  if (host === undefined) {
    if (req.httpVersion === '1.1') throw new BadRequest('bad_request', 'The Host header is missing.');
  } else if (!validHost.test(host) || countHosts(req) > 1)
    throw new BadRequest('invalid_host', 'The Host header must be one host name and an optional port.');
};

/** Runs first for every request. Throws BadRequest or Problem 414. */
export type RequestContext = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Assigns the request id, starts the timer of log and metrics, and refuses invalid targets and hosts. On the fast path
 * the line is written without pino-http and pino's formatter, which cost several times as much as the line.
 */
export const createRequestContext = (
  context: Context,
  logPaths: boolean,
): { express: RequestContext; fast: RequestContext } => {
  const { log, metrics } = context;
  const line = createAccessLine(context, logPaths);
  const expressLog = createExpressLog(log, line);
  const record = (req: IncomingMessage, res: ServerResponse, ms: number): void => {
    metrics.record(req.method ?? '', res.template, statusOf(res), ms);
    if (req.method !== 'GET' && res.statusCode < 400) context.changed?.();
  };
  const logError = function (this: ServerResponse, err: Error): void {
    log.error({ requestId: requestIdOf(this.req), err }, 'response_failed');
  };
  return {
    express: (req, res) => {
      const start = performance.now();
      expressLog(req, res);
      res.on('close', () => record(req, res, performance.now() - start));
      refuseInvalidRequest(req);
    },
    fast: (req, res) => {
      const start = performance.now();
      req.id = makeRequestId(req);
      res.on('error', logError);
      res.on('close', () => {
        const ms = performance.now() - start;
        record(req, res, ms);
        const level = line.levelOf(req, res);
        if (level === 'silent') return;
        const fields = line.fieldsOf(req, res, Math.round(ms));
        writeLine(log, level, { requestId: requestIdOf(req), ...fields }, line.messageOf(res));
      });
      refuseInvalidRequest(req);
    },
  };
};
