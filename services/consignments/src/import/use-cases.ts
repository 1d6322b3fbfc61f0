import { Readable } from 'node:stream';
import { Problem, toProblem } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { createIds } from './ids.ts';
import { createLineSplitter, type Line } from './lines.ts';
import { readLines, type Reading } from './readings.ts';
import { insertConsignments } from './store.ts';

/** In bytes; the longest valid consignment, with every character escaped, has about 6,000. */
const maxLineBytes = 16_384;

/** Batches that are stored at the same time. */
const concurrency = 2;

/** Lines that arrived together, starting at number `line`, or the reason why no more follow. */
type Batch = { line: number; readings: Reading[] } | Failure;

/** No line from `line` on is confirmed. */
interface Failure {
  line: number;
  reason: unknown;
}

async function* batchesOf(ctx: Context, pieces: AsyncIterable<Buffer>): AsyncGenerator<Batch, void> {
  const { lines: most } = ctx.importLimits;
  const splitter = createLineSplitter(maxLineBytes);
  let line = 1;
  const batch = (lines: readonly Line[]): Batch => ({ line, readings: readLines(lines, maxLineBytes) });
  try {
    for await (const piece of pieces) {
      const lines = splitter.push(piece);
      const rest = most + 1 - line;
      yield batch(lines.slice(0, rest));
      line += Math.min(lines.length, rest);
      if (lines.length > rest) {
        const detail = `An import may have ${most} lines.`;
        throw new Problem({ status: 413, code: 'too_many_lines', detail });
      }
    }
    yield batch(splitter.end());
  } catch (reason) {
    yield { line, reason };
  }
}

/** Stores the valid lines in one transaction. Returns a result line for each line. */
const store = async (
  ctx: Context,
  idsOf: ReturnType<typeof createIds>,
  batch: Batch,
): Promise<string | Failure> => {
  if ('reason' in batch) return batch;
  const { line, readings } = batch;
  const inputs = readings.flatMap((reading) => ('input' in reading ? reading.input : []));
  const ids = idsOf(inputs.length, ctx.now());
  try {
    if (inputs.length > 0) await insertConsignments(ctx.database, ids, inputs);
    ctx.changed?.();
  } catch (reason) {
    return { line, reason };
  }
  let stored = 0;
  return readings
    .map((reading) =>
      'input' in reading
        ? `{"line":${reading.line},"id":"${ids[stored++]}"}\n`
        : `${JSON.stringify(reading)}\n`,
    )
    .join('');
};

const stopLine = ({ line, reason }: Failure): string => {
  const { code, message } = toProblem(reason);
  const detail = `${message} The import has stopped: line ${line} and those after it are not confirmed.`;
  return `${JSON.stringify({ line, error: code, detail, stopped: true })}\n`;
};

/**
 * Stores consignments from NDJSON and yields the result lines, in order, as text. Reads no faster than
 * lines are stored and results are taken.
 *
 * An error after the first result becomes a last line with `stopped`; an earlier error is thrown.
 */
export async function* importConsignments(
  ctx: Context,
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<string, void> {
  const idsOf = createIds();
  const running = new Set<Promise<string | Failure>>();
  const start = (batch: Batch): Promise<string | Failure> => {
    const work = store(ctx, idsOf, batch).finally(() => running.delete(work));
    running.add(work);
    return work;
  };
  const results = Readable.from(batchesOf(ctx, pieces)).map(start, { concurrency });
  let told = false;
  for await (const result of results as AsyncIterable<string | Failure>) {
    if (typeof result !== 'string') {
      // Store nothing more after the response has ended.
      await Promise.all(running);
      if (!told) throw result.reason;
      yield stopLine(result);
      return;
    }
    if (result !== '') {
      told = true;
      yield result;
    }
  }
}
