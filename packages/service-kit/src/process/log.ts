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

/** The id that the log, the answer and every problem carry. */
export const requestIdOf = (req: IncomingMessage): string => (req as { id?: unknown }).id as string;

/**
 * Standard output, written when 32 kB have gathered, every quarter of a second and when the process ends: a system call
 * for each line would cost more than the line.
 */
const openStdout = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 32_000, maxWrite: 65_536, periodicFlush: 250 });

/** The time of a line; many lines are written in the same millisecond. */
const createTimeText = (): (() => string) => {
  let [at, text] = [0, ''];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
};

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
      timestamp: createTimeText(),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => describeError(error) },
      ...(fields && { mixin: fields }),
    },
    stream,
  );

const { symbols } = pino;

/** What pino makes a line of, under the names that it exports for libraries. */
interface LineParts {
  /** Start of a line by the number of its level. */
  [symbols.lsCacheSym]: Record<number, string>;
  [symbols.timeSym]: () => string;
  /** The fields of every line. */
  [symbols.chindingsSym]: string;
  [symbols.mixinSym]?: () => object;
  [symbols.streamSym]: DestinationStream;
}

/**
 * Writes the line that `log[level](fields, msg)` writes, without serializers. For the line of every request: the formatter
 * of pino takes each field through several checks and costs three times as much.
 */
export const writeLine = (log: Log, level: 'error' | 'info', fields: object, msg: string): void => {
  if (!log.isLevelEnabled(level)) return;
  const parts = log as unknown as LineParts;
  const start = parts[symbols.lsCacheSym][log.levels.values[level] ?? 0];
  const text = JSON.stringify({ ...parts[symbols.mixinSym]?.(), ...fields, msg });
  const line = `${start}${parts[symbols.timeSym]()}${parts[symbols.chindingsSym]},${text.slice(1)}\n`;
  parts[symbols.streamSym].write(line);
};
