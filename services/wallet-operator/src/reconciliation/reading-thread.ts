import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { Problem, type FieldErrors } from '@platform/service-kit/problem';
import type { StatedFields } from '../db/reconciliations.ts';
import type { Policy } from '../ledger/command.ts';
import { batchOf, type LineBatch } from './line-batch.ts';
import { expectInPeriod, type Period } from './period.ts';
import type { StatementField } from './statement-line.ts';
import { readStatement, type StatementFormat } from './statement.ts';

// The program of a thread that `readInThread` starts: it reads a statement from its standard input, posts the lines in
// batches, and waits for a message after each.

export interface Reading {
  format: StatementFormat;
  period: Period;
  /** Where transaction ids are unique. */
  scope: Policy['transactionIds'];
}

/** What the thread posts: lines; at last how many state each field; or what is wrong with the statement. */
export type Message =
  | { batch: LineBatch }
  | { stated: StatedFields }
  | { problem: { status: number; code: string; detail: string; errors?: FieldErrors } };

const maxLines = 5_000_000;

/** Lines that are stored together at most; those of one piece of the body are stored as it arrives. */
const linesAtOnce = 250;

const read = async (post: (message: Message) => Promise<void>, { format, period, scope }: Reading) => {
  const stated: StatedFields = {};
  let count = 0;
  for await (const lines of expectInPeriod(readStatement(process.stdin, format), period)) {
    count += lines.length;
    if (count > maxLines) {
      const detail = `A statement may have ${maxLines} lines.`;
      throw new Problem({ status: 413, code: 'too_many_lines', detail });
    }
    for (const { content } of lines)
      for (const field of Object.keys(content) as StatementField[]) stated[field] = (stated[field] ?? 0) + 1;
    for (let at = 0; at < lines.length; at += linesAtOnce)
      await post({ batch: batchOf(lines.slice(at, at + linesAtOnce), scope) });
  }
  return stated;
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
