import type { Caller } from '@platform/auth/bearer';
import { pageList, pageOf, slice } from '@platform/pagination/list';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, type Queries, type Target } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { GameChange, GamePath, GameQuery, NewGame } from './schema.ts';
import { findGame, insertGame, listGames, updateGame, type GameRow } from './queries.ts';

/** What `record()` does with games. */
export const gamesOf = ({ database: { sql } }: Context) => ({
  page: async (query: z.output<typeof GameQuery>) => {
    const page = pageOf(query);
    return JSON.stringify(pageList('games', page, slice(await listGames(sql, page), page.limit)));
  },
  find: async (on: Queries, { params: { gameCode } }: Target<typeof GamePath, unknown>, lock: boolean) => {
    const game = await findGame(on, gameCode, lock);
    return game && JSON.stringify(game);
  },
  /** Throws Conflict `game_exists`. */
  insert: (on: Queries, game: z.output<typeof NewGame>, { caller: { subject: by } }: { caller: Caller }) =>
    inTransaction(on, async (tx) => {
      const row = await insertGame(tx, game);
      if (row === undefined) throw new Conflict('game_exists', 'A game with this code exists already.');
      await recordEvent(tx, { kind: 'game_created', playerId: null, details: { by, ...game } });
      return { id: row.gameCode, json: JSON.stringify(row) };
    }),
  save: async (
    on: Queries,
    change: z.output<typeof GameChange>,
    { params: { gameCode }, caller: { subject: by } }: Target<typeof GamePath, Caller>,
  ) => {
    const row = await updateGame(on, gameCode, change);
    await recordEvent(on, { kind: 'game_changed', playerId: null, details: { by, gameCode, ...change } });
    return JSON.stringify(row);
  },
});

/** Throws NotFound. */
export const getGame = async ({ database }: Context, gameCode: string): Promise<GameRow> =>
  orNotFound(await findGame(database.sql, gameCode), 'game');
