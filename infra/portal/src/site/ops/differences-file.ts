import { csvLine } from '@platform/service-kit/csv';
import type { Difference, Side } from './reconciliation-data.ts';

/** Differences as the API writes them into its files, for those that somebody has chosen. */
export const jsonLinesOf = (differences: readonly Difference[]): string =>
  differences.map((difference) => `${JSON.stringify(difference)}\n`).join('');

/** The same as CSV, with a first line of names. */
export const csvOf = (differences: readonly Difference[]): string => {
  const [first] = differences;
  const side = first?.there ?? first?.here;
  if (!first || !side) return '';
  const own = (Object.keys(first) as (keyof Difference)[]).filter(
    (name): name is Exclude<keyof Difference, 'there' | 'here'> => name !== 'there' && name !== 'here',
  );
  const there = Object.keys(side) as (keyof Side)[];
  // Our entries have no line.
  const here = there.filter((name) => name !== 'line');
  const names = [...own, ...there.map((name) => `there.${name}`), ...here.map((name) => `here.${name}`)];
  const lines = differences.map((one) => [
    ...own.map((name) => one[name]),
    ...there.map((name) => one.there?.[name] ?? null),
    ...here.map((name) => one.here?.[name] ?? null),
  ]);
  return [names, ...lines].map((line) => csvLine(line)).join('');
};
