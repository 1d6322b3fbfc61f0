import { readPageList, type Page } from '@platform/pagination/list';
import { Conflict, ValidationFailed } from '@platform/service-kit/problem';
import { inTransaction, record, type Queries } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { readOnListConnection } from '../../list-route.ts';
import { recordEvent } from '../../reporting/audit.ts';
import { supportedCurrency } from '../currencies.ts';
import { endSessions } from '../sessions.ts';
import { findPlayer, insertPlayer, isTimeZone, listPlayers, updatePlayer } from './queries.ts';
import { NewPlayer, Player, PlayerChange, PlayerList, PlayerPath, PlayerQuery } from './schema.ts';

const tag = 'Players';

const checkTimeZone = async (
  sql: Queries,
  { timeZone }: { timeZone?: string | null | undefined },
): Promise<void> => {
  if (timeZone && !(await isTimeZone(sql, timeZone)))
    throw new ValidationFailed({ timeZone: ['must be an IANA time zone such as Europe/Berlin'] });
};

/** Routes of players. Players are never deleted. */
export const playerRecord = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  return [
    ...record({
      path: '/v1/players',
      basePath: '',
      params: PlayerPath,
      tag,
      name: 'player',
      schema: Player,
      computed: ['balance', 'excluded'],
      read: admin,
      write: admin,
      sql: context.database.sql,
      list: {
        summary: 'The players, oldest first',
        query: PlayerQuery,
        body: PlayerList,
        page: async (query) => {
          const isSearch = query.q !== undefined;
          const read = (page: Page) =>
            readOnListConnection(context, page, (sql) => listPlayers(sql, query, page), isSearch);
          return JSON.stringify(await readPageList('players', query, read));
        },
      },
      find: async (on, { params: { playerId } }, lock) => {
        const player = await findPlayer(on, playerId, lock);
        return player && JSON.stringify(player);
      },
      create: {
        input: NewPlayer,
        example: { playerId: 'my-player', currency: 'EUR', name: 'Ada' },
        conflict: '409 `player_exists` for an id that is in use.',
        insert: async (on, input, { caller: { subject: by } }) => {
          // Outside of the transaction, because Redis may answer slowly.
          const currency = await supportedCurrency(context, input.currency);
          return inTransaction(on, async (tx) => {
            await checkTimeZone(tx, input);
            const player = await insertPlayer(tx, { ...input, currency });
            if (player === undefined)
              throw new Conflict('player_exists', 'A player with this id exists already.');
            const { playerId } = player;
            await recordEvent(tx, 'player_created', { by, currency }, playerId);
            return { id: playerId, json: JSON.stringify(player) };
          });
        },
      },
      change: {
        patch: PlayerChange,
        example: { name: 'Ada' },
        save: async (on, change, { params: { playerId }, caller: { subject: by } }) => {
          await checkTimeZone(on, change);
          const player = await updatePlayer(on, playerId, change);
          const { status, excluded, excludedUntil: until } = player;
          if (change.excluded && !excluded)
            throw new ValidationFailed({ excludedUntil: ['must not be in the past'] });
          // The audit trail contains the names of changed personal fields, not their values.
          const details = { by, fields: Object.keys(change), status, excluded, until };
          await recordEvent(on, 'player_changed', details, playerId);
          if (status === 'disabled') await endSessions(on, playerId);
          return JSON.stringify(player);
        },
      },
    }),
  ];
};
