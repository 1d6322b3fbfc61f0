import { Problem, type FieldErrors } from '@platform/service-kit/problem';
import type { NewConsignment } from '../consignments/schema.ts';
import type { Reading, Refusal } from './readings.ts';

/** The result of a line: the id of the consignment that it created and the digest of its content, or a refusal. */
export type LineResult = { line: number; id: string; digest: string } | Refusal;

/** The results of an import that are stored in one row, in the order of lines. */
export interface Slice {
  slice: number;
  results: LineResult[];
}

/** Lines per slice. A row for each line would slow an import down; a longer slice is rewritten when one line is resent. */
const sliceLines = 100;
/** Lines of the slices that are stored at once. */
const batchLines = 10 * sliceLines;

/** Number of the slice that a line belongs to, from 0. */
export const sliceOf = (line: number): number => Math.floor((line - 1) / sliceLines);

/** Number of the batch that a line belongs to, from 0. Lines of a batch may be stored at once. */
export const batchOf = (line: number): number => Math.floor((line - 1) / batchLines);

interface Merged {
  /** Slices to store. */
  changed: Slice[];
  /** Results of the lines that were read; a blank line has none. */
  read: LineResult[];
  /** Consignments to create, and their ids. */
  inputs: NewConsignment[];
  ids: string[];
}

const importIdReused = (line: number, id: string): Problem =>
  new Problem({
    status: 422,
    code: 'import_id_reused',
    detail:
      `Line ${line} of this import has already created consignment ${id} from other content. Use another ` +
      'Import-Id for other lines; if you resend only a part, set Import-First-Line to the number of its ' +
      'first line.',
  });

/**
 * Decides what to store for lines, given the `earlier` results of their slices: a line that created a consignment keeps its
 * result, any other line gets a new result, or none if it is blank. Throws Problem 422 `import_id_reused` if a line that
 * created a consignment now has other content or is blank. `complete` adds data of other records to a new line, or refuses
 * it.
 */
export const mergeLines = (
  earlier: readonly LineResult[],
  readings: readonly Reading[],
  newIds: readonly string[],
  complete: (reading: Reading) => Reading<NewConsignment>,
): Merged => {
  const results = new Map(earlier.map((result) => [result.line, result]));
  const inputs: NewConsignment[] = [];
  const changed = new Set<number>();
  const read = readings.flatMap((reading): LineResult[] => {
    const { line } = reading;
    const before = results.get(line);
    if (before && 'id' in before) {
      if (!('input' in reading) || reading.digest !== before.digest) throw importIdReused(line, before.id);
      return [before];
    }
    const completed = complete(reading);
    if ('blank' in completed) {
      if (results.delete(line)) changed.add(sliceOf(line));
      return [];
    }
    let result: LineResult;
    if ('input' in completed) {
      const id = newIds[inputs.push(completed.input) - 1] ?? '';
      result = { line, id, digest: completed.digest };
    } else result = completed;
    if (JSON.stringify(result) !== JSON.stringify(before)) changed.add(sliceOf(line));
    results.set(line, result);
    return [result];
  });
  const inOrder = [...results.values()].toSorted((a, b) => a.line - b.line);
  const resultsOf = (slice: number) => inOrder.filter(({ line }) => sliceOf(line) === slice);
  return {
    changed: Array.from(changed, (slice) => ({ slice, results: resultsOf(slice) })),
    read,
    inputs,
    ids: newIds.slice(0, inputs.length),
  };
};

/** The detail for invalid fields. It is not stored, because it can be derived from `errors`. */
const detailOf = (errors: FieldErrors): string =>
  Object.entries(errors)
    .map(([name, messages]) => `${name}: ${messages.join(', ')}`)
    .join('; ');

const refusalText = ({ line, error, detail, errors }: Refusal): string =>
  JSON.stringify({ line, error, detail: errors ? detailOf(errors) : detail, errors });

/** Result lines as they are sent to the client. */
export const resultText = (results: readonly LineResult[]): string =>
  results
    .map((result) =>
      'id' in result ? `{"line":${result.line},"id":"${result.id}"}\n` : `${refusalText(result)}\n`,
    )
    .join('');
