import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '@platform/auth/bearer';
import { runAsNewRequest } from '@platform/service-kit/queue-turns';
import { Problem } from '@platform/service-kit/problem';
import type { TransactionSql } from 'postgres';
import { requireClient } from '../clients.ts';
import type { NewConsignment } from '../consignments/schema.ts';
import { completeConsignment, findReferences, storeDetails } from '../consignments/use-cases.ts';
import type { Context } from '../context.ts';
import type { Confirmed } from './answer.ts';
import { batchOf, mergeLines, resultText, sliceOf, type LineResult } from './domain.ts';
import { createIds } from './ids.ts';
import { createLineSplitter, type Line } from './lines.ts';
import { validateLines, type Reading } from './readings.ts';
import { findSlices, lockSlices, storeSlices, type ImportKey } from './queries.ts';

/** The key of an import of a caller. */
export const importKeyOf = ({ subject, clients }: Caller, importId: string): ImportKey => ({
  owner: clients === undefined ? subject : JSON.stringify([subject, ...[...clients].toSorted()]),
  importId,
});

/** Maximum length of a line in bytes: some fifty lines of goods. Longer consignments are sent by POST. */
const maxLineBytes = 16_384;

/** Number of batches of an import that are stored at the same time. */
const concurrency = 2;

/** Maximum size of a batch in bytes: some thousand short lines. Validating it blocks the event loop and needs more memory. */
const maxBatchBytes = 262_144;

/** Lines that arrived together and are stored at once; `line` is the number of the last one. */
interface Batch {
  line: number;
  lines: Line[];
}

/** Why no further line is confirmed. */
interface Failure {
  reason: unknown;
}

/** Whether the promise has settled. */
const hasSettled = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    setImmediate(false),
  ]);

/**
 * Splits a body into batches. A batch ends at each thousandth line; it is smaller if its lines are long or the client sends
 * slowly. Batches of the same thousand lines are stored one after the other.
 */
export async function* batchesOf(
  pieces: AsyncIterable<Buffer>,
  firstLine: number,
  lastLine: number,
): AsyncGenerator<Batch | Failure, void> {
  const splitter = createLineSplitter(maxLineBytes, firstLine);
  const body = pieces[Symbol.asyncIterator]();
  let lines: Line[] = [];
  let bytes = 0;
  const takeBatch = (): Batch => {
    const batch = { line: lines.at(-1)?.line ?? 0, lines };
    lines = [];
    bytes = 0;
    return batch;
  };
  try {
    for (let isDone = false; !isDone;) {
      const next = body.next();
      const isWaiting = !(await hasSettled(next));
      if (isWaiting && lines.length > 0) yield takeBatch();
      const piece = await next;
      isDone = piece.done === true;
      for (const line of piece.done ? splitter.end() : splitter.push(piece.value)) {
        if (line.line > lastLine) {
          const detail = `An import may have ${lastLine} lines.`;
          throw new Problem({ status: 413, code: 'too_many_lines', detail });
        }
        lines.push(line);
        bytes += line.bytes?.length ?? 0;
        if (batchOf(line.line + 1) > batchOf(line.line) || bytes >= maxBatchBytes) yield takeBatch();
      }
    }
    if (lines.length > 0) yield takeBatch();
  } catch (reason) {
    if (lines.length > 0) yield takeBatch();
    yield { reason };
  } finally {
    // Not awaited: it may wait for data that a slow client sends later.
    void body.return?.();
  }
}

/** Returns a function that completes a new consignment with data of the records it refers to, or refuses its line. */
const createCompletion = async (sql: TransactionSql, readings: readonly Reading[], caller: Caller) => {
  const inputs = readings.flatMap((reading) => ('input' in reading ? [reading.input] : []));
  const references = await findReferences(sql, inputs, caller.clients);
  return (reading: Reading): Reading<NewConsignment> => {
    if (!('input' in reading)) return reading;
    try {
      requireClient(caller, reading.input.clientId);
      return { ...reading, input: completeConsignment(reading.input, references) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { code, errors, message } = error;
      return { line: reading.line, error: code, ...(errors ? { errors } : { detail: message }) };
    }
  };
};

/**
 * Stores the new lines of a batch, with their results, in one transaction. It parses them only when it has a connection, so
 * that the number of parsed batches of all imports is at most the number of connections.
 */
const storeBatch = async (
  { database, now, changed }: Context,
  caller: Caller,
  key: ImportKey,
  idsOf: ReturnType<typeof createIds>,
  { line, lines }: Batch,
): Promise<Confirmed> => {
  const first = line - lines.length + 1;
  const newIds = idsOf(lines.length, now());
  const read = await runAsNewRequest(() =>
    database.sql.begin(async (sql): Promise<LineResult[]> => {
      const earlier = await lockSlices(sql, key, sliceOf(first), sliceOf(line));
      const readings = validateLines(lines, maxLineBytes);
      const complete = await createCompletion(sql, readings, caller);
      const { changed, read, inputs, ids } = mergeLines(earlier, readings, newIds, complete);
      if (changed.length > 0) {
        await storeSlices(sql, key, changed, ids, inputs);
        await storeDetails(sql, ids, inputs);
      }
      return read;
    }),
  );
  changed?.();
  return { line, text: resultText(read) };
};

/**
 * Stores consignments from NDJSON and yields the committed results, in the order of the lines. A line that the import has
 * stored before is not stored again. Reads no faster than lines are stored and results are consumed. Throws the reason
 * why the remaining lines are not confirmed.
 */
export async function* importConsignments(
  ctx: Context,
  caller: Caller,
  importId: string,
  pieces: AsyncIterable<Buffer>,
  firstLine: number,
): AsyncGenerator<Confirmed, void> {
  const key = importKeyOf(caller, importId);
  const idsOf = createIds();
  const running = new Set<Promise<Confirmed | Failure>>();
  let latest = { number: -1, work: Promise.resolve<unknown>(undefined) };
  const start = (batch: Batch | Failure): Promise<Confirmed | Failure> => {
    if ('reason' in batch) return Promise.resolve(batch);
    const number = batchOf(batch.line);
    const store = () => storeBatch(ctx, caller, key, idsOf, batch);
    // Two batches of the same thousand lines lock the same rows: the second one would wait while it holds a connection.
    const work = (number === latest.number ? latest.work.then(store) : store())
      .catch((reason: unknown): Failure => ({ reason }))
      .finally(() => running.delete(work));
    latest = { number, work };
    running.add(work);
    return work;
  };
  const batches = batchesOf(pieces, firstLine, ctx.importLimits.lines);
  const results = Readable.from(batches).map(start, { concurrency });
  for await (const result of results as AsyncIterable<Confirmed | Failure>) {
    if ('reason' in result) {
      // Store nothing more after the response has ended.
      await Promise.all(running);
      throw result.reason;
    }
    yield result;
  }
}

/** Yields the stored results of the lines `from` to `to`, some slices at a time. */
export async function* readResults(
  { database }: Context,
  key: ImportKey,
  from: number,
  to = Infinity,
): AsyncGenerator<Confirmed, void> {
  for (let next = sliceOf(from); next <= sliceOf(to);) {
    const first = next;
    const stored = await runAsNewRequest(async () => findSlices(database.sql, key, first));
    const last = stored.at(-1);
    if (last === undefined) return;
    next = last.slice + 1;
    const results = stored.flatMap((slice) => slice.results).filter(({ line }) => line >= from && line <= to);
    const { line } = results.at(-1) ?? {};
    if (line !== undefined) yield { line, text: resultText(results) };
  }
}
