import { pageList, pageOf } from '@platform/pagination/list';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import {
  EntryList,
  EntryQuery,
  NewPlayer,
  Player,
  PlayerChange,
  PlayerList,
  PlayerPath,
  PlayerQuery,
} from './schema.ts';
import { changePlayer, createPlayer, getPlayer, pageEntries, pagePlayers } from './use-cases.ts';

const tag = 'Players';

/** Players and their entries. */
export const playerRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const reader = context.tokens.guard('wallet:read');

  return [
    route(
      {
        method: 'post',
        path: '/v1/players',
        operationId: 'createPlayer',
        tag,
        summary: 'Add a player',
        auth: admin,
        body: { schema: NewPlayer, example: { playerId: 'my-player', currency: 'EUR', name: 'Ada' } },
        responses: { 201: { description: 'Added', body: Player, headers: { Location: 'Its address' } } },
        problems: [409],
      },
      async ({ caller, body }) => ({
        status: 201,
        headers: { Location: `/v1/players/${encodeURIComponent(body.playerId)}` },
        body: await createPlayer(context, caller.subject, body),
      }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/players',
        operationId: 'listPlayers',
        tag,
        summary: 'The players, oldest first',
        auth: admin,
        query: PlayerQuery,
        responses: { 200: { description: 'A page', body: PlayerList } },
      },
      async ({ query }) => {
        const page = pageOf(query);
        return { status: 200, body: pageList('players', page, await pagePlayers(context, page)) };
      },
    ),
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}',
        operationId: 'getPlayer',
        tag,
        summary: 'A player and the balance',
        auth: admin,
        params: PlayerPath,
        responses: { 200: { description: 'The player', body: Player } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getPlayer(context, params.playerId) }),
    ),
    route(
      {
        method: 'patch',
        path: '/v1/players/{playerId}',
        operationId: 'changePlayer',
        tag,
        summary: 'Lock, exclude, or correct what is known of a player',
        auth: admin,
        params: PlayerPath,
        body: { schema: PlayerChange, example: { name: 'Ada' } },
        responses: { 200: { description: 'As it is now', body: Player } },
        problems: [404],
      },
      async ({ caller, params, body }) => ({
        status: 200,
        body: await changePlayer(context, caller.subject, params.playerId, body),
      }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}/entries',
        operationId: 'listEntries',
        tag,
        summary: 'The entries of a player',
        auth: reader,
        params: PlayerPath,
        query: EntryQuery,
        responses: { 200: { description: 'A page', body: EntryList } },
        problems: [404],
      },
      async ({ params, query }) => {
        const page = pageOf(query);
        const entries = await pageEntries(context, params.playerId, query, page);
        return { status: 200, body: pageList('entries', page, entries) };
      },
    ),
  ];
};
