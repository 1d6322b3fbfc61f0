import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { listRoute } from '../../list-route.ts';
import {
  Entry,
  EntryFilter,
  NewPlayer,
  Player,
  PlayerChange,
  PlayerList,
  PlayerPath,
  PlayerQuery,
} from './schema.ts';
import { playerEntries, playersOf } from './use-cases.ts';

const tag = 'Players';

/** Players, who are never deleted, and their entries. */
export const playerRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const reader = context.tokens.guard('wallet:read');
  const { page, find, insert, save } = playersOf(context);
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
      list: { summary: 'The players, oldest first', query: PlayerQuery, body: PlayerList, page },
      find,
      create: {
        input: NewPlayer,
        example: { playerId: 'my-player', currency: 'EUR', name: 'Ada' },
        conflict: '409 `player_exists` for an id that is in use.',
        insert,
      },
      change: { patch: PlayerChange, example: { name: 'Ada' }, save },
    }),
    listRoute(
      {
        path: '/v1/players/{playerId}/entries',
        operationId: 'listEntries',
        tag,
        summary: 'The entries of a player',
        auth: reader,
        params: PlayerPath,
        filters: EntryFilter,
        name: 'entries',
        item: Entry,
      },
      (page, { params, query }) => playerEntries(context, params.playerId, query, page),
    ),
  ];
};
