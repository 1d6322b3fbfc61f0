import type { Page } from '@platform/pagination/list';
import { isLatePage } from '@platform/service-kit/search-lane';
import type { ISql } from 'postgres';
import type { Context } from '../context.ts';

/**
 * Reads a page of a list. A search, and a page so late that the rows before it take long to skip, wait for each other on
 * connections of their own. Throws Unavailable `query_timeout` and `too_busy`.
 */
export const readOnListConnection = <T>(
  { database, searches }: Pick<Context, 'database' | 'searches'>,
  page: Page,
  read: (sql: ISql) => Promise<T>,
  isSearch = false,
): Promise<T> => (isSearch || isLatePage(page) ? searches.run(read) : read(database.sql));
