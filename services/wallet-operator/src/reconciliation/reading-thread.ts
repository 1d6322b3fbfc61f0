import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { Problem, ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import type { Policy } from '../ledger/command.ts';
import type { FieldCounts } from './schema.ts';
import { statementFields, batchOf, type LineBatch, type ReadLine } from './statement-line.ts';
import { readStatement, type StatementFormat } from './statement.ts';

// The program of a thread that `storeLines` starts: it reads a statement from its standard input and posts the lines in
// batches. After each batch it waits for a message.

export interface Reading {
  format: StatementFormat;
  /** `tolerance` is in seconds. */
  period: { from: string; to: string; tolerance: number };
  /** Where transaction ids are unique. */
  scope: Policy['transactionIds'];
}

/** What the thread posts: batches of lines, and at the end the counts of fields, or what is wrong with the statement. */
export type Message =
  | { batch: LineBatch }
  | { fields: FieldCounts }
  | { problem: { status: number; code: string; detail: string; errors?: FieldErrors } };

const maxLines = 5_000_000;

/** Maximum number of lines in a batch. A batch has only lines of one piece of the body, so no line waits for the next piece. */
const linesPerBatch = 250;

/** Whether a line may belong to the period: it has no time, or one in the period extended by the tolerance. */
const mayBelongTo =
  ({ from, to, tolerance }: Reading['period']) =>
  ({ content: { time } }: ReadLine): boolean =>
    time === undefined ||
    (Date.parse(time) >= Date.parse(from) - tolerance * 1000 &&
      Date.parse(time) < Date.parse(to) + tolerance * 1000);

/**
 * Posts all lines and returns the counts of fields. Throws ValidationFailed when no line is in the period: lines outside of
 * it are not compared, so a statement of another period would seem to agree with the ledger.
 */
const postLines = async (post: (message: Message) => Promise<void>, { format, period, scope }: Reading) => {
  const linesWith = new Map<string, number>();
  let count = 0;
  let firstLine: ReadLine | undefined;
  let isOfPeriod = false;
  for await (const lines of readStatement(process.stdin, format)) {
    count += lines.length;
    if (count > maxLines) {
      const detail = `A statement may have at most ${maxLines} lines.`;
      throw new Problem({ status: 413, code: 'too_many_lines', detail });
    }
    firstLine ??= lines[0];
    isOfPeriod ||= lines.some(mayBelongTo(period));
    for (const { content } of lines)
      for (const field of Object.keys(content)) linesWith.set(field, (linesWith.get(field) ?? 0) + 1);
    for (let start = 0; start < lines.length; start += linesPerBatch)
      await post({ batch: batchOf(lines.slice(start, start + linesPerBatch), scope) });
  }
  if (!isOfPeriod)
    throw new ValidationFailed({
      from: [
        `no line lies between \`from\` and \`to\`; the time of the first line is ${firstLine?.content.time}`,
      ],
    });
  return statementFields.map((field) => ({ field, lines: linesWith.get(field) ?? 0 }));
};

if (parentPort === null) throw new Error('reading-thread.ts must run in a thread');
const port = parentPort;
try {
  const fields = await postLines(async (message) => {
    const taken = once(port, 'message');
    port.postMessage(message);
    await taken;
  }, workerData as Reading);
  port.postMessage({ fields } satisfies Message);
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  const { status, code, message: detail, errors } = error;
  port.postMessage({ problem: { status, code, detail, ...(errors && { errors }) } } satisfies Message);
}
