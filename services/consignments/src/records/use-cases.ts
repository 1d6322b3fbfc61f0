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
  valuesByColumn,
  type Columns,
  type Conditions,
  type JsonPage,
  type List,
} from './page.ts';

/**
 * Throws ValidationFailed if a text without a trigram would have to be compared with more than `maxRecords` records: the
 * search would exceed its time limit.
 */
const refuseBroadSearch = async (
  sql: Sql,
  directory: Directory,
  columns: Columns,
  maxRecords: number,
): Promise<void> => {
  const filters = valuesByColumn(columns);
  // A column without a directory, such as external_id, has few records for each value.
  const directoryColumns = new Set(directory.filters.map(({ column }) => column));
  if (filters.some(([column]) => !directoryColumns.has(column))) return;
  const areFew = async (requests: readonly Partial<Pick<PageRequest, 'filter'>>[]): Promise<boolean> => {
    let sum = 0;
    for (const request of requests) {
      sum += (await readPage(sql, directory, { ...request, columns: '1', offset: 0n, limit: 0 })).total;
      if (sum > maxRecords) return false;
    }
    return true;
  };
  if (await areFew([{}])) return;
  for (const [column, values] of filters)
    if (await areFew(values.map((value) => ({ filter: { column, value } })))) return;
  throw new ValidationFailed({
    SearchText: [
      `must have three letters from a to z or digits in a row, or come with a filter that leaves at most ${maxRecords} records: ` +
        'a shorter text would be too slow to search for',
    ],
  });
};

/**
 * One page of a list. With at most one filter, which the page directory supports, the directory finds it at a cost that does
 * not depend on the length of the list. Otherwise all matching rows are counted, on separate connections if the list has a
 * directory or a text is searched. Throws Unavailable if that takes too long or too many requests wait, and ValidationFailed
 * for a text without a trigram that would have to be compared with too many records.
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
  // Lists without a directory have some thousand records.
  if (text === undefined && directory === undefined) return countedPage(sql, list, conditions, page, false);
  const isIndexed = text === undefined || hasTrigram(text);
  if (directory && !isIndexed) await refuseBroadSearch(sql, directory, columns, shortSearchRows);
  return searches.run(isIndexed, (on) => countedPage(on, list, conditions, page, isIndexed));
};

/** A record, and the column in which rows refer to it. */
interface Owner {
  table: string;
  id: string;
  /** Name of the record in error messages. */
  name: string;
  column: string;
}

/**
 * The response body with one page of the rows that refer to a record, newest first. An index finds the page; counting all rows
 * may take long, so it runs on the connections of searches. `show` hides what the caller may not see. Throws NotFound.
 */
export const listRowsOf = async (
  { searches, database: { sql } }: Context,
  { table, id, name, column }: Owner,
  field: string,
  list: Omit<List, 'directory'>,
  query: { PageIndex: number; PageSize: number },
  show: (items: readonly string[]) => Promise<readonly string[]> = (items) => Promise.resolve(items),
): Promise<string> => {
  orNotFound((await sql`select from ${sql(table)} where id = ${id}`)[0], name);
  const page = indexedPageOf(query);
  const conditions = { columns: { [column]: id }, text: undefined };
  const source = { ...list, directory: undefined };
  const { items, total } = await searches.run(true, (on) => countedPage(on, source, conditions, page, true));
  return totalledListJson(field, page, { items: await show(items), total });
};
