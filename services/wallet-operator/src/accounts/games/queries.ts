import type { Page } from '@platform/pagination/list';
import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { z } from 'zod';
import { Game, type GameChange, type NewGame } from './schema.ts';

export const games = jsonTable('games', Object.keys(Game.shape));

/** The game as JSON; undefined when there is one of that code already. */
export const insertGame = async (
  sql: Queries,
  { gameCode, name, enabled }: z.output<typeof NewGame>,
): Promise<string | undefined> => {
  const [game] = await sql<JsonRow[]>`
    insert into games (game_code, name, enabled, created_at) values (${gameCode}, ${name}, ${enabled}, now())
    on conflict do nothing returning ${sql.unsafe(games.json)}`;
  return game?.json;
};

/** Changes a game that exists. Disabling it ends its sessions. */
export const updateGame = (sql: Queries, gameCode: string, change: z.output<typeof GameChange>) =>
  games.update(
    sql,
    { game_code: gameCode },
    { ...change, disabledAt: change.enabled === false ? sql`now()` : undefined },
  );

/** As JSON; one more than the page holds. */
export const listGames = (sql: Queries, { limit, offset }: Page): Promise<string[]> =>
  games.list(sql, sql`order by game_code limit ${limit + 1} offset ${String(offset)}`);
