import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { RefusalList, RefusalQuery } from './schema.ts';
import { pageRefusals } from './use-cases.ts';

/** Callbacks that were refused. */
export const refusalRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'get',
      path: '/v1/refusals',
      operationId: 'listRefusals',
      tag: 'Callbacks',
      summary: 'Refused callbacks and why, the newest first',
      auth: context.tokens.guard('wallet:read'),
      query: RefusalQuery,
      responses: { 200: { description: 'A page', body: RefusalList } },
    },
    async ({ query }) => ({ status: 200, body: await pageRefusals(context, query) }),
  ),
];
