import { pageLimitBody, pageLimitQuery, readPageList, type Page } from '@platform/pagination/list';
import type { BaseContext } from '@platform/service-kit/context';
import { route, type Guard, type Route } from '@platform/service-kit/route';
import { isLatePage, type SearchPool } from '@platform/service-kit/search-pool';
import type { ISql } from 'postgres';
import { z } from 'zod';
import { anyInstant } from './reconciliation/statement-line.ts';

/** Query parameters that select rows by their time. */
export const timeRange = {
  from: anyInstant.optional().meta({ description: 'From this time (inclusive)' }),
  to: anyInstant.optional().meta({ description: 'Before this time (exclusive)' }),
};

interface ListSpec<Params, Filters, Item> {
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  auth: Guard<unknown>;
  /** Path parameters, which name the parent of the list. `read` throws NotFound when the parent does not exist. */
  params?: Params;
  /** Query parameters in addition to `page` and `limit`. */
  filters?: Filters;
  /** Name of the array of rows in the body. */
  name: string;
  item: Item;
}

/** An operation that reads one page of a list. `read` selects one row more than the page holds. */
export const listRoute = <
  Item extends z.ZodType,
  Params extends z.ZodObject = z.ZodObject,
  Filters extends z.ZodObject = z.ZodObject,
>(
  { name, item, params, filters, ...operation }: ListSpec<Params, Filters, Item>,
  read: (
    page: Page,
    input: { params: z.output<NoInfer<Params>>; query: z.output<NoInfer<Filters>> },
  ) => PromiseLike<readonly z.input<NoInfer<Item>>[]>,
): Route => {
  const query: z.ZodObject = z.strictObject({ ...pageLimitQuery, ...filters?.shape });
  const body: z.ZodType = pageLimitBody(name, item);
  return route(
    {
      ...operation,
      method: 'get',
      params,
      query,
      responses: { 200: { description: 'A page', body } },
      ...(params !== undefined && { problems: [404] }),
    },
    async (input) => {
      // The cast is safe, because the schemas above have parsed the input.
      const parsed = input as unknown as Parameters<typeof read>[1] & {
        query: { page: number; limit: number };
      };
      return { status: 200, body: await readPageList(name, parsed.query, (page) => read(page, parsed)) };
    },
  );
};

interface ListConnections extends Pick<BaseContext, 'database'> {
  searches: SearchPool;
}

/**
 * Reads a page of a list. Searches, and pages so deep that skipping the previous rows is slow, queue for the connections of
 * `searches`. Throws Unavailable `query_timeout` and `too_busy`.
 */
export const readOnListConnection = <T>(
  { database, searches }: ListConnections,
  page: Page,
  read: (sql: ISql) => Promise<T>,
  isSearch = false,
): Promise<T> => (isSearch || isLatePage(page) ? searches.run(read) : read(database.sql));

/**
 * Reads a round. Its statements read all entries of the player, so those of a player with very many entries queue for the
 * connections of `searches`, too.
 */
export const readRound = async <T>(
  { database: { sql }, searches }: ListConnections,
  playerId: string,
  read: (sql: ISql) => Promise<T>,
): Promise<T> => {
  const manyEntries = await sql`select from players where player_id = ${playerId} and seq > 10000`;
  return manyEntries.length > 0 ? searches.run(read) : read(sql);
};

/** Creates the `read` of a list whose filters all have an index; `list` selects a page of the matching rows. */
export const onListConnection =
  <Query, Item>(
    connections: ListConnections,
    list: (sql: ISql, query: Query, page: Page) => Promise<readonly Item[]>,
  ) =>
  (page: Page, { query }: { query: Query }) =>
    readOnListConnection(connections, page, (sql) => list(sql, query, page));
