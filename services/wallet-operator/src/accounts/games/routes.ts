import { pageList, pageOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { Game, GameChange, GameList, GamePath, GameQuery, NewGame } from './schema.ts';
import { changeGame, createGame, getGame, pageGames } from './use-cases.ts';

const tag = 'Games';

/** The games that may be played here. */
export const gameRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  return [
    route(
      {
        method: 'post',
        path: '/v1/games',
        operationId: 'createGame',
        tag,
        summary: 'Add a game',
        auth: admin,
        body: { schema: NewGame, example: { gameCode: 'my-game', name: 'A game of mine' } },
        responses: { 201: { description: 'Added', body: Game, headers: { Location: 'Its address' } } },
        problems: [409],
      },
      async ({ caller, body }) => ({
        status: 201,
        headers: { Location: `/v1/games/${encodeURIComponent(body.gameCode)}` },
        body: await createGame(context, caller.subject, body),
      }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/games',
        operationId: 'listGames',
        tag,
        summary: 'The games, by code',
        auth: admin,
        query: GameQuery,
        responses: { 200: { description: 'A page', body: GameList } },
      },
      async ({ query }) => {
        const page = pageOf(query);
        return { status: 200, body: pageList('games', page, await pageGames(context, page)) };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/games/{gameCode}',
        operationId: 'getGame',
        tag,
        summary: 'A game',
        auth: admin,
        params: GamePath,
        responses: { 200: { description: 'The game', body: Game } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getGame(context, params.gameCode) }),
    ),
    route(
      {
        method: 'patch',
        path: '/v1/games/{gameCode}',
        operationId: 'changeGame',
        tag,
        summary: 'Rename, enable or disable a game',
        auth: admin,
        params: GamePath,
        body: { schema: GameChange, example: { enabled: true } },
        responses: { 200: { description: 'As it is now', body: Game } },
        problems: [404],
      },
      async ({ caller, params, body }) => ({
        status: 200,
        body: await changeGame(context, caller.subject, params.gameCode, body),
      }),
    ),
  ];
};
