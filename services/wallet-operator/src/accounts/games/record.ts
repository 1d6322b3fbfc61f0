import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, record } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Route } from '@platform/service-kit/route';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import { games, insertGame, listGames, updateGame } from './queries.ts';
import { Game, GameChange, GameList, GamePath, GameQuery, NewGame } from './schema.ts';

/** The games that may be played here. They are disabled and never deleted, because entries name them. */
export const gameRecord = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const { sql } = context.database;
  return record({
    path: '/v1/games',
    basePath: '',
    params: GamePath,
    tag: 'Games',
    name: 'game',
    schema: Game,
    read: admin,
    write: admin,
    sql,
    list: {
      summary: 'The games, by code',
      query: GameQuery,
      body: GameList,
      page: async (query) => {
        const page = pageOf(query);
        return pageListJson('games', page, slice(await listGames(sql, page), page.limit));
      },
    },
    find: (on, { params: { gameCode } }, lock) => games.find(on, { game_code: gameCode }, lock),
    create: {
      input: NewGame,
      example: { gameCode: 'my-game', name: 'A game of mine' },
      conflict: '409 `game_exists` for a code that is in use.',
      insert: (on, game, { caller: { subject: by } }) =>
        inTransaction(on, async (tx) => {
          const json = await insertGame(tx, game);
          if (json === undefined) throw new Conflict('game_exists', 'A game with this code exists already.');
          await recordEvent(tx, { kind: 'game_created', playerId: null, details: { by, ...game } });
          return { id: game.gameCode, json };
        }),
    },
    change: {
      patch: GameChange,
      example: { enabled: true },
      save: async (on, change, { params: { gameCode }, caller: { subject: by } }) => {
        const json = await updateGame(on, gameCode, change);
        const details = { by, gameCode, ...change };
        await recordEvent(on, { kind: 'game_changed', playerId: null, details });
        return json;
      },
    },
  });
};

/** Throws NotFound. */
export const getGame = async ({ database }: Context, gameCode: string): Promise<z.input<typeof Game>> =>
  JSON.parse(orNotFound(await games.find(database.sql, { game_code: gameCode }, false), 'game')) as z.input<
    typeof Game
  >;
