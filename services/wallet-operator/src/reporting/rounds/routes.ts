import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { RoundEntriesQuery, RoundList, RoundPath, RoundQuery, RoundWithEntries } from './schema.ts';
import { getRound, pageRounds } from './use-cases.ts';

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
    route(
      {
        method: 'get',
        path: '/v1/rounds',
        operationId: 'listRounds',
        tag,
        summary: 'Rounds that are open, or have an id, the oldest first',
        auth: reader,
        query: RoundQuery,
        responses: { 200: { description: 'A page', body: RoundList } },
      },
      async ({ query }) => ({ status: 200, body: await pageRounds(context, query) }),
    ),
  ];
};
