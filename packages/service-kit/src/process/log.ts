import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pino, type DestinationStream, type Logger } from 'pino';
// Declares `id` of a request.
import type {} from 'pino-http';
import { describeError } from './safe-error.ts';

export type Log = Logger;

const validId = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` where it is 1–128 of `[A-Za-z0-9._-]`, else a new one. */
export const makeRequestId = ({ headers }: IncomingMessage): string => {
  const id = headers['x-request-id'];
  return typeof id === 'string' && validId.test(id) ? id : randomUUID();
};

/** The id of a request, which is in its log lines, its response and every problem. */
export const requestIdOf = (req: IncomingMessage): string => (req as { id?: unknown }).id as string;

/**
 * Standard output. Lines are buffered and written when there are 32 kB, every quarter of a second and when the process ends,
 * because a system call for each line would cost more than the line.
 */
const openStdout = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 32_000, maxWrite: 65_536, periodicFlush: 250 });

/** Returns a function that writes the time of a line. The text is cached, because many lines share a millisecond. */
const createTimeText = (): (() => string) => {
  let [cachedMs, text] = [0, ''];
  return () => {
    const now = Date.now();
    if (now !== cachedMs) [cachedMs, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
};

/** Creates the log of a process: one JSON object a line. `stream` replaces standard output; `fields` adds fields to every line. */
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
      timestamp: createTimeText(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => describeError(error) },
      ...(fields && { mixin: fields }),
    },
    stream,
  );

const { symbols } = pino;

/** The internal fields of a pino logger that a line consists of, under the symbols that pino exports. */
interface PinoInternals {
  /** The start of a line for each level number. */
  [symbols.lsCacheSym]: Record<number, string>;
  [symbols.timeSym]: () => string;
  /** The fields that every line has, as JSON. */
  [symbols.chindingsSym]: string;
  [symbols.mixinSym]?: () => object;
  [symbols.streamSym]: DestinationStream;
}

/**
 * Writes the same line as `log[level](fields, msg)`, but without serializers. Used for the line of every request, because
 * pino's formatter checks each field several times and costs three times as much.
 */
export const writeLine = (log: Log, level: 'error' | 'info', fields: object, msg: string): void => {
  if (!log.isLevelEnabled(level)) return;
  const internals = log as unknown as PinoInternals;
  const start = internals[symbols.lsCacheSym][log.levels.values[level] ?? 0];
  const text = JSON.stringify({ ...internals[symbols.mixinSym]?.(), ...fields, msg });
  const line = `${start}${internals[symbols.timeSym]()}${internals[symbols.chindingsSym]},${text.slice(1)}\n`;
  internals[symbols.streamSym].write(line);
};
