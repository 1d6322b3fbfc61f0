import { hash } from 'node:crypto';
import type { Directory } from '@platform/pagination/directory';
import { readCounted, type CountCache } from '@platform/pagination/directory/counted';
import { readPage, type FilterValue } from '@platform/pagination/directory/read';
import type { IndexedPage } from '@platform/pagination/page-index';
import type { Sql } from 'postgres';
import type { Kind } from './kind.ts';
import { conditionOf, type Filters, type WrittenPage } from './page.ts';
import { written, type Written } from './store.ts';

/** What the directory itself can narrow down, and what is left to be looked for. */
const split = (
  directory: Directory,
  { columns, text }: Filters,
): { filters: [string, FilterValue][]; rest: Filters } => {
  const known = new Set(directory.filters.map(({ column }) => column));
  const given = Object.entries(columns).filter(
    (entry): entry is [string, FilterValue] => entry[1] !== undefined,
  );
  return {
    filters: given.filter(([column]) => known.has(column)),
    rest: { columns: Object.fromEntries(given.filter(([column]) => !known.has(column))), text },
  };
};

const isEmpty = ({ columns, text }: Filters): boolean =>
  text === undefined && Object.keys(columns).length === 0;

/** One page, newest first, of a list that has a directory; at most one filter is read from it alone. */
export const directoryPage = async (
  sql: Sql,
  counts: CountCache,
  directory: Directory,
  kind: Kind,
  wanted: Filters,
  { offset, limit }: IndexedPage,
): Promise<WrittenPage> => {
  const { filters, rest } = split(directory, wanted);
  const columns = written(sql, kind);
  const [first, ...more] = filters;
  const read = async () => {
    if (more.length === 0 && isEmpty(rest)) {
      const filter = first && { column: first[0], value: first[1] };
      return readPage<Written>(sql, directory, { columns, ...(filter && { filter }), offset, limit });
    }
    const condition = { name: hash('sha256', JSON.stringify(rest)), sql: conditionOf(sql, rest) };
    return readCounted<Written>(sql, counts, directory, {
      columns,
      filters: Object.fromEntries(filters),
      ...(isEmpty(rest) ? {} : { condition }),
      offset,
      limit,
    });
  };
  const { items, total } = await read();
  return { items: items.map(({ json }) => json), total };
};
