import { readPage, type Directory, type FilterValue } from '@platform/pagination/directory';
import type { IndexedPage } from '@platform/pagination/list';
import { ValidationFailed } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';
import { hasTrigram } from '../search.ts';
import type { Kind } from './kind.ts';
import type { Filters, WrittenPage } from './page.ts';
import { jsonOf, type Written } from './queries.ts';

/** Reads a page with the page directory; undefined for several filters, or a filter that it does not have. */
export const directoryPage = async (
  sql: Sql,
  directory: Directory,
  kind: Kind,
  { columns, text }: Filters,
  { offset, limit }: IndexedPage,
): Promise<WrittenPage | undefined> => {
  const [first, ...more] = Object.entries(columns).filter(([, value]) => value !== undefined);
  const filter = first && directory.filters.find(({ column }) => column === first[0]);
  if (text !== undefined || more.length > 0 || (first && !filter)) return undefined;
  const { items, total } = await readPage<Written>(sql, directory, {
    columns: jsonOf(kind, 'item'),
    ...(first?.[1] === undefined ? {} : { filter: { column: first[0], value: first[1] } }),
    offset,
    limit,
  });
  return { items: items.map(({ json }) => json), total };
};

/**
 * Throws ValidationFailed for a text without a trigram that would have to be searched in more than `most` records:
 * the search would exceed its time limit.
 */
export const refuseBroadSearch = async (
  sql: Sql,
  directory: Directory,
  { columns, text }: Filters,
  most: number,
): Promise<void> => {
  if (text === undefined || hasTrigram(text)) return;
  const given = Object.entries(columns).filter((one): one is [string, FilterValue] => one[1] !== undefined);
  // A column without a directory, such as external_id, has few records for each value.
  const known = new Set(directory.filters.map(({ column }) => column));
  if (given.some(([column]) => !known.has(column))) return;
  const filters = given.map(([column, value]) => ({ filter: { column, value } }));
  for (const filter of filters.length > 0 ? filters : [{}]) {
    const { total } = await readPage(sql, directory, { ...filter, columns: '1', offset: 0n, limit: 0 });
    if (total <= most) return;
  }
  throw new ValidationFailed({
    SearchText: [
      `must have three letters from a to z or digits in a row, or come with a filter that leaves at most ${most} records: ` +
        'a shorter text cannot be searched in so many',
    ],
  });
};
