import { readPage, type Directory } from '@platform/pagination/directory';
import type { IndexedPage } from '@platform/pagination/page-index';
import type { Sql } from 'postgres';
import type { Kind } from './kind.ts';
import type { Filters, WrittenPage } from './page.ts';
import { jsonOf, type Written } from './store.ts';

/** Reads a page by the directory alone; undefined if there is more than one filter, or one that it does not have. */
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
