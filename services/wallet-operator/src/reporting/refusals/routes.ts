import type { Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { readOnListConnection } from '../../db/list-connection.ts';
import { listRoute } from '../../list-route.ts';
import { Refusal, RefusalFilter } from './schema.ts';
import { listRefusals } from './use-cases.ts';

/** Callbacks that were refused. */
export const refusalRoutes = (context: Context): Route[] => [
  listRoute(
    {
      path: '/v1/refusals',
      operationId: 'listRefusals',
      tag: 'Callbacks',
      summary: 'Refused callbacks, newest first',
      auth: context.tokens.guard('wallet:read'),
      filters: RefusalFilter,
      name: 'refusals',
      item: Refusal,
    },
    (page, { query }) => readOnListConnection(context, page, (sql) => listRefusals(sql, query, page)),
  ),
];
