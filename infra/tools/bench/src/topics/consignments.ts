/** A million consignments: pages with exact totals, searches, writers, an import. */
import { withMillion, type Setup } from '../consignments/million.ts';
import { pairFigures, searchFigures } from '../consignments/narrow-figures.ts';
import { pageFigures } from '../consignments/page-figures.ts';
import { importFigures, insertFigures } from '../consignments/write-figures.ts';
import type { Figure, Topic } from '../figure.ts';

/** In this order, so that pages and searches see the million rows before others change them. */
const figures = {
  pages: pageFigures,
  pairs: pairFigures,
  searches: searchFigures,
  inserts: insertFigures,
  import: importFigures,
};

const all = async (setup: Setup): Promise<Figure[]> => {
  const measured: Figure[] = [];
  for (const measure of Object.values(figures)) measured.push(...(await measure(setup)));
  return measured;
};

export const topic: Topic = {
  title: 'Consignments: a million, in pages with exact totals',
  parts: Object.fromEntries(
    Object.entries(figures).map(([name, measure]) => [name, () => withMillion(measure)]),
  ),
  measure: () => withMillion(all),
};
