import { pageLimitBody, pageLimitQuery, pageListJson, pageOf, slice } from '@platform/pagination/list';
import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, record, type Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { Route } from '@platform/service-kit/route';
import { instant, text } from '@platform/service-kit/text';
import { addressableId, id } from '@platform/wallet-protocol/ids';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { recordEvent } from '../reporting/audit.ts';

const name = text(1, 200);

const NewGame = z
  .strictObject({ gameCode: addressableId, name, enabled: z.boolean().default(true) })
  .meta({ id: 'NewGame' });
const GameChange = z
  .strictObject({ name: name.optional(), enabled: z.boolean().optional() })
  .meta({ id: 'GameChange' });
const Game = z
  .object({ gameCode: z.string(), name: z.string(), enabled: z.boolean(), createdAt: instant() })
  .meta({ id: 'Game' });
const GamePath = z.object({ gameCode: id.meta({ example: 'dice-alpha' }) });
const GameQuery = z.strictObject(pageLimitQuery);
const GameList = pageLimitBody('games', Game);

const games = jsonTable('games', Object.keys(Game.shape));

/** Inserts a game. Returns it as JSON; undefined when the code is already used. */
export const insertGame = async (
  sql: Queries,
  { gameCode, name: title, enabled }: z.output<typeof NewGame>,
): Promise<string | undefined> => {
  const [game] = await sql<JsonRow[]>`
    insert into games (game_code, name, enabled, created_at) values (${gameCode}, ${title}, ${enabled}, now())
    on conflict do nothing returning ${sql.unsafe(games.json)}`;
  return game?.json;
};

/** Routes of the games of this operator. Games are disabled but never deleted, because entries name them. */
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
        const selection = sql`order by game_code limit ${page.limit + 1} offset ${String(page.offset)}`;
        return pageListJson('games', page, slice(await games.list(sql, selection), page.limit));
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
          await recordEvent(tx, 'game_created', { by, ...game });
          return { id: game.gameCode, json };
        }),
    },
    change: {
      patch: GameChange,
      example: { enabled: true },
      save: async (on, change, { params: { gameCode }, caller: { subject: by } }) => {
        // `disabled_at` ends the sessions of the game.
        const disabledAt = change.enabled === false ? on`now()` : undefined;
        await recordEvent(on, 'game_changed', { by, gameCode, ...change });
        return games.update(on, { game_code: gameCode }, { ...change, disabledAt });
      },
    },
  });
};

/** Throws NotFound. */
export const getGame = async ({ database }: Context, gameCode: string): Promise<z.input<typeof Game>> =>
  JSON.parse(orNotFound(await games.find(database.sql, { game_code: gameCode }, false), 'game')) as z.input<
    typeof Game
  >;
