import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { Context } from '../context.ts';

/** Rows before a page, up to which it is read on the connections that all requests share. */
const mostSkipped = 10_000n;

/**
 * Reads a page of a list. A search, and a page so late that the rows before it take long to skip, wait for each other on
 * connections of their own. Throws Unavailable `query_timeout` and `too_busy`.
 */
export const readOnListConnection = <T>(
  { database, searches }: Pick<Context, 'database' | 'searches'>,
  { offset }: Page,
  read: (sql: ISql) => Promise<T>,
  isSearch = false,
): Promise<T> => (isSearch || offset > mostSkipped ? searches.run(read) : read(database.sql));
