import { idempotencyKeyOf, secretIdempotencyKeyHeader } from '@platform/service-kit/idempotency';
import { orNotFound } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { listRoute, onListConnection } from '../../list-route.ts';
import { Launch, LaunchFilter, LaunchPath, LaunchRecord, NewLaunch } from './schema.ts';
import { findLaunch, launch, launchPath, listLaunches } from './use-cases.ts';

const tag = 'Launches';

/** Routes of launches: they ask the game server to open a game for a player. */
export const launchRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/v1/launches',
      operationId: 'launchGame',
      tag,
      summary: 'Open a game for a player',
      auth: context.tokens.guard('wallet:admin'),
      headers: secretIdempotencyKeyHeader,
      body: { schema: NewLaunch, example: { playerId: 'demo-1', gameCode: 'dice-alpha' } },
      responses: {
        201: { description: 'The game is open', body: Launch, headers: { Location: 'Its address' } },
      },
      problems: [404, 409, 422],
    },
    async ({ caller, body, req }) => {
      const request = { owner: caller.subject, key: idempotencyKeyOf(req) };
      const launched = await launch(context, request, body);
      return { status: 201, headers: { Location: launchPath(launched) }, body: launched };
    },
  ),
  listRoute(
    {
      path: '/v1/launches',
      operationId: 'listLaunches',
      tag,
      summary: 'List launches, newest first',
      auth: context.tokens.guard('wallet:read'),
      filters: LaunchFilter,
      name: 'launches',
      item: LaunchRecord,
    },
    onListConnection(context, listLaunches),
  ),
  route(
    {
      method: 'get',
      path: '/v1/launches/{launchId}',
      operationId: 'getLaunch',
      tag,
      summary: 'Get a launch and its outcome',
      auth: context.tokens.guard('wallet:read'),
      params: LaunchPath,
      responses: { 200: { description: 'The launch', body: LaunchRecord } },
      problems: [404],
    },
    async ({ params: { launchId } }) => ({
      status: 200,
      body: orNotFound(await findLaunch(context.database.sql, launchId), 'launch'),
    }),
  ),
];
