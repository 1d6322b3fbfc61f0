import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { Game, GameChange, GameList, GamePath, GameQuery, NewGame } from './schema.ts';
import { gamesOf } from './use-cases.ts';

/** The games that may be played here. They are disabled and never deleted, because entries name them. */
export const gameRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const { page, find, insert, save } = gamesOf(context);
  return record({
    path: '/v1/games',
    basePath: '',
    params: GamePath,
    tag: 'Games',
    name: 'game',
    schema: Game,
    read: admin,
    write: admin,
    sql: context.database.sql,
    list: { summary: 'The games, by code', query: GameQuery, body: GameList, page },
    find,
    create: {
      input: NewGame,
      example: { gameCode: 'my-game', name: 'A game of mine' },
      conflict: '409 `game_exists` for a code that is in use.',
      insert,
    },
    change: { patch: GameChange, example: { enabled: true }, save },
  });
};
