import { idempotencyKeyOf, secretIdempotencyKeyHeader } from '@platform/service-kit/idempotency';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import {
  CurrencyList,
  Launch,
  LaunchList,
  LaunchPath,
  LaunchQuery,
  LaunchRecord,
  NewLaunch,
} from './schema.ts';
import { PlayerPath } from '../players/schema.ts';
import { listCurrencies } from '../currencies/use-cases.ts';
import { sessionRecord } from './record.ts';
import { endAllSessions, getLaunch, launch, launchPath, pageLaunches } from './use-cases.ts';

const tag = 'Launches';

/** What we ask of the game server, and the sessions of players in its games. */
export const launchRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/v1/launches',
      operationId: 'launch',
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
  route(
    {
      method: 'get',
      path: '/v1/launches',
      operationId: 'listLaunches',
      tag,
      summary: 'The launches that were asked for, the newest first',
      auth: context.tokens.guard('wallet:read'),
      query: LaunchQuery,
      responses: { 200: { description: 'A page', body: LaunchList } },
    },
    async ({ query }) => ({ status: 200, body: await pageLaunches(context, query) }),
  ),
  route(
    {
      method: 'get',
      path: '/v1/launches/{launchId}',
      operationId: 'getLaunch',
      tag,
      summary: 'A launch and its outcome',
      auth: context.tokens.guard('wallet:read'),
      params: LaunchPath,
      responses: { 200: { description: 'The launch', body: LaunchRecord } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: await getLaunch(context, params.launchId) }),
  ),
  ...sessionRecord(context),
  route(
    {
      method: 'delete',
      path: '/v1/players/{playerId}/sessions',
      operationId: 'endSessions',
      tag,
      summary: 'End all sessions of a player',
      auth: context.tokens.guard('wallet:admin'),
      params: PlayerPath,
      responses: { 204: { description: 'The player has no session any more' } },
      problems: [404],
    },
    async ({ params, caller }) => {
      await endAllSessions(context, params.playerId, caller.subject);
      return { status: 204 };
    },
  ),
  route(
    {
      method: 'get',
      path: '/v1/currencies',
      operationId: 'listCurrencies',
      tag,
      summary: 'The currencies of the game server',
      auth: context.tokens.guard('wallet:admin'),
      responses: { 200: { description: 'Their codes', body: CurrencyList } },
    },
    async () => ({ status: 200, body: await listCurrencies(context) }),
  ),
];
