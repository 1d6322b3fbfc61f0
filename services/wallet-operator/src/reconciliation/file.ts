import type { z } from 'zod';
import type { Context } from '../context.ts';
import { csvLine } from '@platform/service-kit/csv';
import { Difference, sideFields } from './difference.ts';
import { allDifferences } from './use-cases.ts';

type DifferenceView = z.input<typeof Difference>;

const own = Difference.omit({ there: true, here: true }).keyof().options;

/** The first line of the file, as CSV. */
export const headerLine = csvLine([
  ...own,
  ...sideFields.map((field) => `there.${field}`),
  // Our entries have no line.
  ...sideFields.slice(1).map((field) => `here.${field}`),
]);

const csvOf = (difference: DifferenceView): string =>
  csvLine([
    ...own.map((field) => difference[field] ?? ''),
    ...sideFields.map((field) => difference.there?.[field] ?? ''),
    ...sideFields.slice(1).map((field) => difference.here?.[field] ?? ''),
  ]);

const jsonOf = (difference: DifferenceView): string => `${JSON.stringify(difference)}\n`;

/** The differences as a file, in portions. */
export async function* differencesFile(
  ctx: Context,
  id: string,
  format: 'csv' | 'jsonl',
): AsyncGenerator<string> {
  if (format === 'csv') yield headerLine;
  for await (const differences of allDifferences(ctx, id)) {
    const text = differences.map(format === 'csv' ? csvOf : jsonOf).join('');
    // An empty text would end the stream.
    if (text !== '') yield text;
  }
}
