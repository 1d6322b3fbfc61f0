import { csvLine } from '@platform/service-kit/csv';
import type { Sql } from 'postgres';
import { Difference, sideFields } from './difference.ts';
import { differencesAfter, type DifferenceView } from './queries.ts';

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

const atOnce = 1000;

/** All differences as a file, in portions that are read when they are taken. */
export async function* differencesFile(
  sql: Sql,
  id: string,
  format: 'csv' | 'jsonl',
): AsyncGenerator<string> {
  if (format === 'csv') yield headerLine;
  for (let after: number | undefined = 0; after !== undefined;) {
    const differences: DifferenceView[] = await differencesAfter(sql, id, after, atOnce);
    after = differences.at(-1)?.number;
    // An empty text would end the stream.
    if (after !== undefined) yield differences.map(format === 'csv' ? csvOf : jsonOf).join('');
  }
}
