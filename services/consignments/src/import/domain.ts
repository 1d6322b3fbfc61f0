import { Problem, type FieldErrors } from '@platform/service-kit/problem';
import type { NewConsignment } from '../consignments/schema.ts';
import type { Reading, Refusal } from './readings.ts';

/** What became of a line: the consignment that it created, with the digest of its content, or why it was refused. */
export type LineResult = { line: number; id: string; digest: string } | Refusal;

/** The stored lines of an import are kept in slices: a row for each line would slow the import down. */
const sliceLines = 1000;

/** Number of the slice that a line belongs to, from 0. */
export const sliceOf = (line: number): number => Math.floor((line - 1) / sliceLines);

/** Whether the next line belongs to another slice. */
export const endsSlice = ({ line }: { line: number }): boolean => line % sliceLines === 0;

interface Merged {
  /** Results of the whole slice in the order of lines. */
  results: LineResult[];
  /** Results of the lines that were read; a blank line has none. */
  read: LineResult[];
  /** Whether anything of the slice is to be stored. */
  isChanged: boolean;
  /** Consignments to create, and their ids. */
  inputs: NewConsignment[];
  ids: string[];
}

const reused = (line: number, id: string): Problem =>
  new Problem({
    status: 422,
    code: 'import_id_reused',
    detail:
      `Line ${line} of this import has already created consignment ${id}, from other content. Give other ` +
      'lines another Import-Id; when you send only a part again, give the number of its first line in ' +
      'Import-First-Line.',
  });

/**
 * Decides what to do with lines of a slice of which `earlier` is known: a line that created a consignment keeps its
 * result, any other line gets a new one, or none when it is blank. Throws Problem 422 `import_id_reused` when a line that
 * created a consignment now has other content, or is blank. `complete` adds to a new line what it takes from other records, or
 * refuses it.
 */
export const mergeSlice = (
  earlier: readonly LineResult[],
  readings: readonly Reading[],
  newIds: readonly string[],
  complete: (reading: Reading) => Reading<NewConsignment>,
): Merged => {
  const results = new Map(earlier.map((result) => [result.line, result]));
  const inputs: NewConsignment[] = [];
  let isNew = false;
  const read = readings.flatMap((reading): LineResult[] => {
    const { line } = reading;
    const before = results.get(line);
    if (before && 'id' in before) {
      if (!('input' in reading) || reading.digest !== before.digest) throw reused(line, before.id);
      return [before];
    }
    const completed = complete(reading);
    if ('blank' in completed) {
      results.delete(line);
      return [];
    }
    let result: LineResult;
    if ('input' in completed) {
      const id = newIds[inputs.push(completed.input) - 1] ?? '';
      result = { line, id, digest: completed.digest };
    } else result = completed;
    isNew ||= JSON.stringify(result) !== JSON.stringify(before);
    results.set(line, result);
    return [result];
  });
  const inOrder = [...results.values()].toSorted((a, b) => a.line - b.line);
  const isChanged = isNew || inOrder.length < earlier.length;
  return { results: inOrder, read, isChanged, inputs, ids: newIds.slice(0, inputs.length) };
};

/** The detail of invalid fields is not stored, because it repeats them. */
const detailOf = (errors: FieldErrors): string =>
  Object.entries(errors)
    .map(([name, messages]) => `${name}: ${messages.join(', ')}`)
    .join('; ');

const refusalText = ({ line, error, detail, errors }: Refusal): string =>
  JSON.stringify({ line, error, detail: errors ? detailOf(errors) : detail, errors });

/** Result lines as the client gets them. */
export const resultText = (results: readonly LineResult[]): string =>
  results
    .map((result) =>
      'id' in result ? `{"line":${result.line},"id":"${result.id}"}\n` : `${refusalText(result)}\n`,
    )
    .join('');
