import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';
import { pinoHttp, type HttpLogger } from 'pino-http';

export type Log = Logger;

const given = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` where it is 1–128 of `[A-Za-z0-9._-]`, else a new one. */
export const makeRequestId = (req: IncomingMessage): string => {
  const id = req.headers['x-request-id'];
  return typeof id === 'string' && given.test(id) ? id : randomUUID();
};

/** The id that the log, the answer and every problem carry. */
export const requestIdOf = (req: IncomingMessage): string => req.id as string;

/** What may be logged of an error. Database errors carry rows and parameters; those stay out. */
const describe = (error: unknown): object => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = (error as { code?: unknown }).code;
  return {
    type: name,
    message,
    ...(code === undefined ? {} : { code }),
    stack,
    ...(cause === undefined ? {} : { cause: describe(cause) }),
  };
};

/**
 * The process's log: one JSON object a line. Lines are gathered for up to a quarter of a second,
 * errors go out at once. `stream` replaces stdout, for tests; `fields` are asked for with every line.
 */
export const createLog = (
  name: string,
  level: string,
  stream?: DestinationStream,
  fields?: () => object,
): Log =>
  pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describe },
      ...(fields && { mixin: fields }),
    },
    stream ?? pino.destination({ sync: false, minLength: 16_000, periodicFlush: 250 }),
  );

interface RequestLine {
  requestId: string;
  method: string | undefined;
  route: string | undefined;
  path?: string | undefined;
  status: number;
  ms: number;
}

/**
 * One line a request: id, method, route template, status, time. Neither headers nor query strings
 * nor, where a path may hold a secret (`showPath` false), the path itself are logged.
 */
export const requestLog = (log: Log, showPath: boolean): HttpLogger => {
  const line = (req: IncomingMessage, res: ServerResponse, { ms }: { ms: number }): RequestLine => ({
    requestId: requestIdOf(req),
    method: req.method,
    route: (res as { locals?: { route?: string } }).locals?.route,
    ...(showPath ? { path: (req as { originalUrl?: string }).originalUrl?.split('?', 1)[0] } : {}),
    status: res.statusCode,
    ms,
  });
  // The line is built from scratch at the end, and a request's child logger is bound to its id alone:
  // pino-http's usual bindings would serialise the request first, at several times the cost.
  return pinoHttp({
    logger: log,
    genReqId: makeRequestId,
    quietResLogger: true,
    wrapSerializers: false,
    customAttributeKeys: { req: 'requestId', responseTime: 'ms' },
    serializers: { requestId: requestIdOf },
    customSuccessObject: line,
    customErrorObject: (req, res, _error, values: { ms: number; err: unknown }) => ({
      ...line(req, res, values),
      err: values.err,
    }),
    customSuccessMessage: (_req, res) => (res.writableFinished ? 'answered' : 'client went away'),
    customErrorMessage: () => 'failed',
    customLogLevel: (_req, res, error) => (error || res.statusCode >= 500 ? 'error' : 'info'),
  });
};
