import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

const validId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` where it is 1–128 of `[A-Za-z0-9._-]`, else a new one. */
export const makeRequestId = ({ headers }: IncomingMessage): string => {
  const id = headers['x-request-id'];
  return typeof id === 'string' && validId.test(id) ? id : randomUUID();
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
 * Standard output, written when 16 kB have gathered, every quarter of a second and when the process ends: a system call
 * for each line would cost more than the line.
 */
const openStdout = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 16_000, periodicFlush: 250 });

/**
 * The process's log: one JSON object a line. `stream` replaces standard output, for tests; `fields` is called for every
 * line.
 */
export const createLog = (
  name: string,
  level: string,
  stream: DestinationStream = openStdout(),
  fields?: () => object,
): Log =>
  pino(
    {
      level,
      base: { service: name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describe },
      ...(fields && { mixin: fields }),
    },
    stream,
  );
