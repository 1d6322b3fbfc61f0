import { readPageList } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { listRefusals } from './queries.ts';
import { RefusalList, RefusalQuery } from './schema.ts';

/** Callbacks that were refused. */
export const refusalRoutes = ({ tokens, database: { sql } }: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/v1/refusals',
      operationId: 'listRefusals',
      tag: 'Callbacks',
      summary: 'Refused callbacks and why, the newest first',
      auth: tokens.guard('wallet:read'),
      query: RefusalQuery,
      responses: { 200: { description: 'A page', body: RefusalList } },
    },
    async ({ query: { page, limit, ...filter } }) => ({
      status: 200,
      body: await readPageList('refusals', { page, limit }, (window) => listRefusals(sql, filter, window)),
    }),
  ),
];
