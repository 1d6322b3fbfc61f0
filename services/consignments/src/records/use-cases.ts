import type { Directory } from '@platform/pagination/directory';
import type { IndexedPage } from '@platform/pagination/list';
import type { Sql } from 'postgres';
import type { Context } from '../context.ts';
import { hasTrigram } from '../search.ts';
import { directoryPage, refuseBroadSearch } from './directory-page.ts';
import type { Kind } from './kind.ts';
import { countedPage, type Filters, type WrittenPage } from './page.ts';

/** Searches use separate connections. Throws Unavailable when a search takes too long or too many wait. */
const readCounted = (
  { database, searches }: Context,
  kind: Kind,
  filters: Filters,
  page: IndexedPage,
  hasFilterIndexes: boolean,
): Promise<WrittenPage> => {
  const isIndexed = filters.text === undefined ? hasFilterIndexes : hasTrigram(filters.text);
  const read = (sql: Sql) => countedPage(sql, kind, filters, page, isIndexed);
  return filters.text === undefined ? read(database.sql) : searches.run(filters.text, read);
};

/** One page of a short list. */
export const listRecords = (
  ctx: Context,
  kind: Kind,
  filters: Filters,
  page: IndexedPage,
): Promise<WrittenPage> => readCounted(ctx, kind, filters, page, false);

/**
 * One page of a list that has a page directory. With at most one filter, the cost does not depend on the length of
 * the list; otherwise the rows of the most selective filter are counted. Throws ValidationFailed for a SearchText
 * without a trigram that would have to be searched in too many records.
 */
export const listByDirectory = async (
  ctx: Context,
  directory: Directory,
  kind: Kind,
  filters: Filters,
  page: IndexedPage,
): Promise<WrittenPage> => {
  const found = await directoryPage(ctx.database.sql, directory, kind, filters, page);
  if (found !== undefined) return found;
  await refuseBroadSearch(ctx.database.sql, directory, filters, ctx.shortSearchRows);
  return readCounted(ctx, kind, filters, page, true);
};
