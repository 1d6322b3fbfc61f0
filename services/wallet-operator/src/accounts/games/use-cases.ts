import { type Page, type Slice, slice } from '@platform/pagination/list';
import { Conflict, NotFound } from '@platform/service-kit/problem';
import type { z } from 'zod';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Context } from '../../context.ts';
import type { Game, GameChange, NewGame } from './schema.ts';
import { findGame, insertGame, listGames, updateGame, type GameRow } from './queries.ts';

type GameView = z.input<typeof Game>;

const view = (row: GameRow): GameView => ({ ...row, createdAt: row.createdAt.toISOString() });

export const createGame = (ctx: Context, by: string, game: z.output<typeof NewGame>): Promise<GameView> =>
  ctx.database.orm.transaction(async (tx) => {
    const row = await insertGame(tx, game);
    if (row === undefined) throw new Conflict('game_exists', 'A game with this code exists already.');
    await recordEvent(tx, { kind: 'game_created', playerId: null, details: { by, ...game } });
    return view(row);
  });

/** Throws NotFound. */
export const getGame = async ({ database }: Context, gameCode: string): Promise<GameView> => {
  const row = await findGame(database.orm, gameCode);
  if (row === undefined) throw new NotFound('game');
  return view(row);
};

export const changeGame = async (
  ctx: Context,
  by: string,
  gameCode: string,
  change: z.output<typeof GameChange>,
): Promise<GameView> => {
  const changes = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return ctx.database.orm.transaction(async (tx) => {
    const row = await updateGame(tx, gameCode, changes);
    if (row === undefined) throw new NotFound('game');
    await recordEvent(tx, { kind: 'game_changed', playerId: null, details: { by, gameCode, ...changes } });
    return view(row);
  });
};

export const pageGames = async ({ database }: Context, page: Page): Promise<Slice<GameView>> =>
  slice((await listGames(database.orm, page)).map(view), page.limit);
