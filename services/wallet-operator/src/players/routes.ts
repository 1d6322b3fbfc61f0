import { pageList, pageOf } from '@platform/pagination/page-limit';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import {
  EntryList,
  NewPlayer,
  NewTransfer,
  Player,
  PlayerChange,
  PlayerList,
  PlayerPath,
  PlayerQuery,
  Transfer,
} from './schema.ts';
import { changePlayer, createPlayer, getPlayer, pageEntries, pagePlayers, transfer } from './use-cases.ts';

const tag = 'Players';

/** Players, their money by hand, and their entries. */
export const playerRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const reader = context.tokens.guard('wallet:read');

  const transferRoute = (operation: 'deposit' | 'withdrawal', summary: string): Route =>
    route(
      {
        method: 'post',
        path: `/v1/players/{playerId}/${operation}s`,
        operationId: operation,
        tag,
        summary,
        description: 'The same transactionId again gives the same answer and moves nothing.',
        caller: admin,
        params: PlayerPath,
        body: { schema: NewTransfer },
        responses: { 201: { description: 'Booked', body: Transfer } },
        problems: [404, 409, 422],
      },
      async ({ caller, params, body }) => ({
        status: 201,
        body: await transfer(context, caller.subject, operation, params.playerId, body),
      }),
    );

  return [
    route(
      {
        method: 'post',
        path: '/v1/players',
        operationId: 'createPlayer',
        tag,
        summary: 'Add a player',
        caller: admin,
        body: { schema: NewPlayer },
        responses: { 201: { description: 'Added', body: Player } },
        problems: [409],
      },
      async ({ caller, body }) => ({ status: 201, body: await createPlayer(context, caller.subject, body) }),
    ),
    route(
      {
        method: 'get',
        path: '/v1/players',
        operationId: 'listPlayers',
        tag,
        summary: 'The players, oldest first',
        caller: admin,
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
        caller: admin,
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
        caller: admin,
        params: PlayerPath,
        body: { schema: PlayerChange },
        responses: { 200: { description: 'As it is now', body: Player } },
        problems: [404],
      },
      async ({ caller, params, body }) => ({
        status: 200,
        body: await changePlayer(context, caller.subject, params.playerId, body),
      }),
    ),
    transferRoute('deposit', 'Book money in'),
    transferRoute('withdrawal', 'Book money out'),
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}/entries',
        operationId: 'listEntries',
        tag,
        summary: 'The entries of a player, oldest first',
        caller: reader,
        params: PlayerPath,
        query: PlayerQuery,
        responses: { 200: { description: 'A page', body: EntryList } },
        problems: [404],
      },
      async ({ params, query }) => {
        const page = pageOf(query);
        const entries = await pageEntries(context, params.playerId, page);
        return { status: 200, body: pageList('entries', page, entries) };
      },
    ),
  ];
};
