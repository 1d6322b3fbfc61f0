import type { Page } from '@platform/pagination/list';
import { asc, eq, sql as raw } from 'drizzle-orm';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { games } from '../../db/tables.ts';

export type GameRow = typeof games.$inferSelect;

/** Undefined when there is one of that code already. */
export const insertGame = async (
  orm: Pick<PostgresJsDatabase, 'insert'>,
  row: Omit<GameRow, 'createdAt'>,
): Promise<GameRow | undefined> => {
  const [game] = await orm
    .insert(games)
    .values({ ...row, createdAt: raw`now()` })
    .onConflictDoNothing()
    .returning();
  return game;
};

export const findGame = async (orm: PostgresJsDatabase, gameCode: string): Promise<GameRow | undefined> => {
  const [row] = await orm.select().from(games).where(eq(games.gameCode, gameCode));
  return row;
};

export const updateGame = async (
  orm: Pick<PostgresJsDatabase, 'update'>,
  gameCode: string,
  change: Partial<Pick<GameRow, 'name' | 'enabled'>>,
): Promise<GameRow | undefined> => {
  const [row] = await orm
    .update(games)
    .set({ gameCode: raw`${games.gameCode}`, ...change })
    .where(eq(games.gameCode, gameCode))
    .returning();
  return row;
};

/** One more than the page holds. */
export const listGames = (orm: PostgresJsDatabase, { limit, offset }: Page): Promise<GameRow[]> =>
  orm
    .select()
    .from(games)
    .orderBy(asc(games.gameCode))
    .limit(limit + 1)
    .offset(Number(offset));
