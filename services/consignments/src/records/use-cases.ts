import type { Directory } from '@platform/pagination/directory';
import type { IndexedPage } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { hasTrigram } from '../search.ts';
import { directoryPage, refuseBroadSearch } from './directory-page.ts';
import type { Kind } from './kind.ts';
import { countedPage, type Filters, type WrittenPage } from './page.ts';
import { findRecord, insertRecord, updateRecord } from './queries.ts';

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

/** The new record as JSON text. */
export const createRecord = async (
  ctx: Context,
  kind: Kind,
  input: object,
): Promise<{ id: string; json: string }> => {
  const id = v7();
  const json = await insertRecord(ctx.database, kind, { id, ...input });
  return { id, json };
};

/** The record as JSON text; `what` names it in the error message. Throws NotFound. */
export const getRecord = async (ctx: Context, kind: Kind, what: string, id: string): Promise<string> => {
  const json = await findRecord(ctx.database, kind, id);
  if (json === undefined) throw new NotFound(what);
  return json;
};

/** The changed record as JSON text. Throws NotFound. */
export const changeRecord = async (
  ctx: Context,
  kind: Kind,
  what: string,
  id: string,
  patch: object,
): Promise<string> => {
  const json = await updateRecord(ctx.database, kind, id, patch);
  if (json === undefined) throw new NotFound(what);
  return json;
};
