import type { Caller } from '@platform/auth/bearer';
import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, type Queries, type Target } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Game, GameChange, GamePath, GameQuery, NewGame } from './schema.ts';
import { games, insertGame, listGames, updateGame } from './queries.ts';

/** What `record()` does with games. */
export const gamesOf = ({ database: { sql } }: Context) => ({
  page: async (query: z.output<typeof GameQuery>) => {
    const page = pageOf(query);
    return pageListJson('games', page, slice(await listGames(sql, page), page.limit));
  },
  find: (on: Queries, { params: { gameCode } }: Target<typeof GamePath, unknown>, lock: boolean) =>
    games.find(on, { game_code: gameCode }, lock),
  /** Throws Conflict `game_exists`. */
  insert: (on: Queries, game: z.output<typeof NewGame>, { caller: { subject: by } }: { caller: Caller }) =>
    inTransaction(on, async (tx) => {
      const json = await insertGame(tx, game);
      if (json === undefined) throw new Conflict('game_exists', 'A game with this code exists already.');
      await recordEvent(tx, { kind: 'game_created', playerId: null, details: { by, ...game } });
      return { id: game.gameCode, json };
    }),
  save: async (
    on: Queries,
    change: z.output<typeof GameChange>,
    { params: { gameCode }, caller: { subject: by } }: Target<typeof GamePath, Caller>,
  ) => {
    const json = await updateGame(on, gameCode, change);
    await recordEvent(on, { kind: 'game_changed', playerId: null, details: { by, gameCode, ...change } });
    return json;
  },
});

/** Throws NotFound. */
export const getGame = async ({ database }: Context, gameCode: string): Promise<z.input<typeof Game>> =>
  JSON.parse(orNotFound(await games.find(database.sql, { game_code: gameCode }, false), 'game')) as z.input<
    typeof Game
  >;
