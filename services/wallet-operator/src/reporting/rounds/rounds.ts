import { readPageList } from '@platform/pagination/list';
import { orNotFound } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { entriesOfRound } from '../../accounts/entries.ts';
import { listRoute, onListConnection, readRound } from '../../list-route.ts';
import { Round, RoundEntriesQuery, RoundFilter, RoundPath, RoundWithEntries } from './schema.ts';
import { findRound, listRounds } from './queries.ts';

const tag = 'Rounds';

/** Routes of rounds, for support and for finding rounds that were never closed. */
export const roundRoutes = (context: Context): Route[] => {
  const reader = context.tokens.guard('wallet:read');
  return [
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}/rounds/{roundId}',
        operationId: 'getRound',
        tag,
        summary: 'Get a round with its entries',
        auth: reader,
        params: RoundPath,
        query: RoundEntriesQuery,
        responses: { 200: { description: 'The round', body: RoundWithEntries } },
        problems: [404],
      },
      async ({ params: { playerId, roundId }, query }) => {
        const body = await readRound(context, playerId, async (sql) => ({
          ...orNotFound(await findRound(sql, playerId, roundId), 'round'),
          ...(await readPageList('entries', query, (page) => entriesOfRound(sql, playerId, roundId, page))),
        }));
        return { status: 200, body };
      },
    ),
    listRoute(
      {
        path: '/v1/rounds',
        operationId: 'listRounds',
        tag,
        summary: 'List rounds, oldest first',
        auth: reader,
        filters: RoundFilter,
        name: 'rounds',
        item: Round,
      },
      onListConnection(context, listRounds),
    ),
  ];
};
