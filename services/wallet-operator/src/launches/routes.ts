import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { CurrencyList, Launch, NewLaunch } from './schema.ts';
import { launch, listCurrencies } from './use-cases.ts';

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
      caller: context.tokens.guard('wallet:admin'),
      body: { schema: NewLaunch },
      responses: { 201: { description: 'The game is open', body: Launch } },
      problems: [404, 422],
    },
    async ({ body }) => ({ status: 201, body: await launch(context, body) }),
  ),
  route(
    {
      method: 'get',
      path: '/v1/currencies',
      operationId: 'listCurrencies',
      tag,
      summary: 'The currencies of the game server',
      caller: context.tokens.guard('wallet:admin'),
      responses: { 200: { description: 'Their codes', body: CurrencyList } },
    },
    async () => ({ status: 200, body: await listCurrencies(context) }),
  ),
];
