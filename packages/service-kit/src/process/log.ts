import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';
import { pinoHttp, type HttpLogger } from 'pino-http';
import { gatherLines } from './log-buffer.ts';

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

let latest = { at: 0, text: '' };

/** ISO 8601; made once a millisecond. */
const isoTime = (): string => {
  const at = Date.now();
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() };
  return latest.text;
};

/**
 * The process's log: one JSON object a line. Lines are gathered for up to a quarter of a second,
 * errors go out at once. `stream` replaces stdout, for tests; `fields` is called for every line.
 */
export const createLog = (
  name: string,
  level: string,
  stream: DestinationStream = gatherLines(1),
  fields?: () => object,
): Log =>
  pino(
    {
      level,
      base: { service: name },
      timestamp: () => `,"time":"${isoTime()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describe },
      ...(fields && { mixin: fields }),
    },
    stream,
  );

/**
 * Gives each request its id and a log that is bound to it. The line of a request is not written here
 * but where its time is taken (access-log.ts): a second set of listeners costs as much as the line.
 */
export const requestLog = (log: Log): HttpLogger =>
  pinoHttp({
    logger: log,
    genReqId: makeRequestId,
    autoLogging: false,
    quietResLogger: true,
    // Bound to the id alone: the usual bindings would serialise the request first.
    wrapSerializers: false,
    customAttributeKeys: { req: 'requestId' },
    serializers: { requestId: requestIdOf },
  });
