import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { Problem, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import type { Policy } from '../ledger/command.ts';
import type { StatedFields } from './schema.ts';
import { statementFields, batchOf, type LineBatch, type ReadLine } from './statement-line.ts';
import { readStatement, type StatementFormat } from './statement.ts';

// The program of a thread that `readInThread` starts: it reads a statement from its standard input, posts the lines in
// batches, and waits for a message after each.

export interface Reading {
  format: StatementFormat;
  /** `tolerance` is in seconds. */
  period: { from: string; to: string; tolerance: number };
  /** Where transaction ids are unique. */
  scope: Policy['transactionIds'];
}

/** What the thread posts: lines; at last how many state each field; or what is wrong with the statement. */
export type Message =
  | { batch: LineBatch }
  | { stated: StatedFields }
  | { problem: { status: number; code: string; detail: string; errors?: FieldErrors } };

const maxLines = 5_000_000;

/** The maximum number of lines that are stored together; those of one piece of the body are stored as it arrives. */
const linesAtOnce = 250;

/** A line without a time counts as inside, and so does one that is outside by less than the tolerance. */
const isInside =
  ({ from, to, tolerance }: Reading['period']) =>
  ({ content: { time } }: ReadLine): boolean =>
    time === undefined ||
    (Date.parse(time) >= Date.parse(from) - tolerance * 1000 &&
      Date.parse(time) < Date.parse(to) + tolerance * 1000);

/**
 * What lies outside of the period is not compared, so a statement of another period would seem to agree with the ledger:
 * throws ValidationFailed at its end when no line is in the period.
 */
const read = async (post: (message: Message) => Promise<void>, { format, period, scope }: Reading) => {
  const stated = new Map<string, number>();
  let count = 0;
  let first: ReadLine | undefined;
  let hasInside = false;
  for await (const lines of readStatement(process.stdin, format)) {
    count += lines.length;
    if (count > maxLines) {
      const detail = `A statement may have at most ${maxLines} lines.`;
      throw new Problem({ status: 413, code: 'too_many_lines', detail });
    }
    first ??= lines[0];
    hasInside ||= lines.some(isInside(period));
    for (const { content } of lines)
      for (const field of Object.keys(content)) stated.set(field, (stated.get(field) ?? 0) + 1);
    for (let at = 0; at < lines.length; at += linesAtOnce)
      await post({ batch: batchOf(lines.slice(at, at + linesAtOnce), scope) });
  }
  if (!hasInside)
    throw new ValidationFailed({
      from: [
        `no line lies between \`from\` and \`to\`; the time of the first line is ${first?.content.time}`,
      ],
    });
  return statementFields.map((field) => ({ field, lines: stated.get(field) ?? 0 }));
};

if (parentPort === null) throw new Error('this is the program of a thread');
const port = parentPort;
try {
  const stated = await read(async (message) => {
    const taken = once(port, 'message');
    port.postMessage(message);
    await taken;
  }, workerData as Reading);
  port.postMessage({ stated } satisfies Message);
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  const { status, code, message: detail, errors } = error;
  port.postMessage({ problem: { status, code, detail, ...(errors && { errors }) } } satisfies Message);
}
