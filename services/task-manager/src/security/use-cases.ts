import { pageListJson, pageOf, slice, type PageQuery } from '@platform/pagination/list';
import type { Queries } from '@platform/service-kit/record';
import { listEvents } from './queries.ts';

/** For what happens in other resources, in their transactions. */
export { recordEvent } from './queries.ts';

/** A page of the events of a user, as JSON text. */
export const eventPage = async (sql: Queries, userId: string, query: PageQuery): Promise<string> => {
  const page = pageOf(query);
  return pageListJson('events', page, slice(await listEvents(sql, userId, page), page.limit));
};
