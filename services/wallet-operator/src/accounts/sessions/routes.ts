import { idempotencyKeyOf, secretIdempotencyKeyHeader } from '@platform/service-kit/idempotency';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { CurrencyList, Launch, LaunchPath, LaunchRecord, NewLaunch } from './schema.ts';
import { listCurrencies } from '../currencies/use-cases.ts';
import { getLaunch, launch, launchPath } from './use-cases.ts';

const tag = 'Launches';

/** What we ask of the game server. */
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
      path: '/v1/launches/{launchId}',
      operationId: 'getLaunch',
      tag,
      summary: 'A launch, until a day after its session has expired',
      auth: context.tokens.guard('wallet:admin'),
      params: LaunchPath,
      responses: { 200: { description: 'The launch', body: LaunchRecord } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: await getLaunch(context, params.launchId) }),
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
