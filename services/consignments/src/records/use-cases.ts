import { readPage, type Directory, type PageRequest } from '@platform/pagination/directory';
import { indexedPageOf, totalledListJson, type IndexedPage } from '@platform/pagination/list';
import { ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Sql } from 'postgres';
import type { Context } from '../context.ts';
import { hasTrigram } from '../search.ts';
import {
  countedPage,
  directoryPage,
  givenValues,
  type Columns,
  type Conditions,
  type JsonPage,
  type List,
} from './page.ts';

/**
 * Throws ValidationFailed when more than `most` records would have to be compared with a text without a trigram: the
 * search would exceed its time limit.
 */
const refuseBroadSearch = async (
  sql: Sql,
  directory: Directory,
  columns: Columns,
  most: number,
): Promise<void> => {
  const given = givenValues(columns);
  // A column without a directory, such as external_id, has few records for each value.
  const known = new Set(directory.filters.map(({ column }) => column));
  if (given.some(([column]) => !known.has(column))) return;
  const isFew = async (filters: readonly Partial<Pick<PageRequest, 'filter'>>[]): Promise<boolean> => {
    let all = 0;
    for (const filter of filters) {
      all += (await readPage(sql, directory, { ...filter, columns: '1', offset: 0n, limit: 0 })).total;
      if (all > most) return false;
    }
    return true;
  };
  if (await isFew([{}])) return;
  for (const [column, values] of given)
    if (await isFew(values.map((value) => ({ filter: { column, value } })))) return;
  throw new ValidationFailed({
    SearchText: [
      `must have three letters from a to z or digits in a row, or come with a filter that leaves at most ${most} records: ` +
        'a shorter text would be too slow to search for',
    ],
  });
};

/**
 * One page of a list. With a page directory and at most one filter on it, the directory answers, at a cost that does not
 * depend on the length of the list. Otherwise all matching rows are counted, on separate connections if the list has a
 * directory or a text is searched. Throws Unavailable when that takes too long or too many wait, and ValidationFailed for a
 * text without a trigram that would have to be searched in too many records.
 */
export const listRecords = async (
  { database: { sql }, searches, shortSearchRows }: Context,
  list: List,
  conditions: Conditions,
  page: IndexedPage,
): Promise<JsonPage> => {
  const { directory } = list;
  const { columns, text } = conditions;
  const fromDirectory = await directoryPage(sql, list, conditions, page);
  if (fromDirectory !== undefined) return fromDirectory;
  // Such a list has some thousand records.
  if (text === undefined && directory === undefined) return countedPage(sql, list, conditions, page, false);
  const isIndexed = text === undefined || hasTrigram(text);
  if (directory && !isIndexed) await refuseBroadSearch(sql, directory, columns, shortSearchRows);
  return searches.run(isIndexed, (on) => countedPage(on, list, conditions, page, isIndexed));
};

/** A record, and the column that names it in the rows below it. */
interface Owner {
  table: string;
  id: string;
  /** In words. */
  name: string;
  column: string;
}

/**
 * The body of one page of the rows below a record, newest first. An index finds the page; counting all rows may take long,
 * so it runs on the connections of searches. `show` leaves of the rows what the caller may see. Throws NotFound.
 */
export const listRowsOf = async (
  { searches, database: { sql } }: Context,
  { table, id, name, column }: Owner,
  body: string,
  list: Omit<List, 'directory'>,
  query: { PageIndex: number; PageSize: number },
  show: (items: readonly string[]) => Promise<readonly string[]> = (items) => Promise.resolve(items),
): Promise<string> => {
  orNotFound((await sql`select from ${sql(table)} where id = ${id}`)[0], name);
  const page = indexedPageOf(query);
  const conditions = { columns: { [column]: id }, text: undefined };
  const from = { ...list, directory: undefined };
  const { items, total } = await searches.run(true, (on) => countedPage(on, from, conditions, page, true));
  return totalledListJson(body, page, { items: await show(items), total });
};
