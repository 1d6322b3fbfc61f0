import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { readOnListConnection } from '../../db/list-connection.ts';
import { listRoute } from '../../list-route.ts';
import { Round, RoundEntriesQuery, RoundFilter, RoundPath, RoundWithEntries } from './schema.ts';
import { getRound, listRounds } from './use-cases.ts';

const tag = 'Rounds';

/** Rounds, for support and for finding those that nobody closes. */
export const roundRoutes = (context: Context): Route[] => {
  const reader = context.tokens.guard('wallet:read');
  return [
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}/rounds/{roundId}',
        operationId: 'getRound',
        tag,
        summary: 'A round with its entries',
        auth: reader,
        params: RoundPath,
        query: RoundEntriesQuery,
        responses: { 200: { description: 'The round', body: RoundWithEntries } },
        problems: [404],
      },
      async ({ params, query }) => ({ status: 200, body: await getRound(context, params, query) }),
    ),
    listRoute(
      {
        path: '/v1/rounds',
        operationId: 'listRounds',
        tag,
        summary: 'Rounds, oldest first',
        auth: reader,
        filters: RoundFilter,
        name: 'rounds',
        item: Round,
      },
      (page, { query }) => readOnListConnection(context, page, (sql) => listRounds(sql, query, page)),
    ),
  ];
};
