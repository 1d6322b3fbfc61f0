import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { PlayerPath } from '../accounts/players/schema.ts';
import { listRoute } from '../list-route.ts';
import { LimitChange, Limits, NewLimits, PlaySession } from './schema.ts';
import { getLimits, getPlaySession, limitHistory, putLimits } from './use-cases.ts';

const tag = 'Limits';

/** Routes of limits, and of the current play for reality checks. */
export const limitRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const reader = context.tokens.guard('wallet:read');
  return [
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}/limits',
        operationId: 'getLimits',
        tag,
        summary: 'Get the limits of a player',
        auth: reader,
        params: PlayerPath,
        responses: { 200: { description: 'The limits', body: Limits } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getLimits(context, params.playerId) }),
    ),
    route(
      {
        method: 'put',
        path: '/v1/players/{playerId}/limits',
        operationId: 'setLimits',
        tag,
        summary: 'Set the limits of a player',
        description:
          'A new or lower limit is in force at once. A higher limit, and the end of a limit, wait for 24 hours; sending ' +
          'the limit in force cancels the waiting change. The lower one of the limits of player and operator counts.',
        auth: admin,
        params: PlayerPath,
        body: {
          schema: NewLimits,
          example: { setBy: 'player', loss: { '24h': '500.00', month: '4000.00' }, sessionMinutes: 120 },
        },
        responses: { 200: { description: 'The limits after the change', body: Limits } },
        problems: [404],
      },
      async ({ caller, params, body }) => ({
        status: 200,
        body: await putLimits(context, caller.subject, params.playerId, body),
      }),
    ),
    listRoute(
      {
        path: '/v1/players/{playerId}/limits/history',
        operationId: 'listLimitChanges',
        tag,
        summary: 'List changes of limits, newest first',
        auth: reader,
        params: PlayerPath,
        name: 'changes',
        item: LimitChange,
      },
      (page, { params }) => limitHistory(context, params.playerId, page),
    ),
    route(
      {
        method: 'get',
        path: '/v1/players/{playerId}/session',
        operationId: 'getPlaySession',
        tag,
        summary: 'Get the current session of play',
        description:
          'For reality checks. A session ends when no bet was accepted for SESSION_BREAK_S (30 minutes).',
        auth: reader,
        params: PlayerPath,
        responses: { 200: { description: 'The newest session', body: PlaySession } },
        problems: [404],
      },
      async ({ params }) => ({ status: 200, body: await getPlaySession(context, params.playerId) }),
    ),
  ];
};
