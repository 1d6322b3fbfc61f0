import type { Page } from '@platform/pagination/list';
import type { ISql } from 'postgres';
import type { z } from 'zod';
import { isoTime } from '../../ledger/entry.ts';
import type { Game, GameChange, NewGame } from './schema.ts';

export type GameRow = z.input<typeof Game>;

const gameColumns = (sql: ISql) => sql`
  game_code as "gameCode", name, enabled, ${isoTime(sql, sql`created_at`)} as "createdAt"`;

/** Undefined when there is one of that code already. */
export const insertGame = async (
  sql: ISql,
  { gameCode, name, enabled }: z.output<typeof NewGame>,
): Promise<GameRow | undefined> => {
  const [game] = await sql<GameRow[]>`
    insert into games (game_code, name, enabled, created_at) values (${gameCode}, ${name}, ${enabled}, now())
    on conflict do nothing returning ${gameColumns(sql)}`;
  return game;
};

export const findGame = async (sql: ISql, gameCode: string, lock = false): Promise<GameRow | undefined> => {
  const [row] = await sql<GameRow[]>`
    select ${gameColumns(sql)} from games where game_code = ${gameCode} ${lock ? sql`for update` : sql``}`;
  return row;
};

/** Changes a game that exists. Disabling it ends its sessions. */
export const updateGame = async (
  sql: ISql,
  gameCode: string,
  { name, enabled }: z.output<typeof GameChange>,
): Promise<GameRow> => {
  const [row] = await sql<[GameRow]>`
    update games set name = coalesce(${name ?? null}, name), enabled = coalesce(${enabled ?? null}, enabled),
      disabled_at = case when ${enabled === false} then now() else disabled_at end
    where game_code = ${gameCode} returning ${gameColumns(sql)}`;
  return row;
};

/** One more than the page holds. */
export const listGames = (sql: ISql, { limit, offset }: Page) => sql<GameRow[]>`
  select ${gameColumns(sql)} from games order by game_code limit ${limit + 1} offset ${String(offset)}`;
