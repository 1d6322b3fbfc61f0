import { noStore } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { exportRoute } from './export-route.ts';
import { leave } from './leaving.ts';
import { actorOf } from './routes.ts';
import { Leaving } from './schema.ts';

/** How users leave, and take their data along. */
export const leavingRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/auth/me/delete',
      operationId: 'deleteAccount',
      tag: 'Account',
      summary: 'Delete your account',
      description:
        'All sessions end at once. After 14 days everything about you is erased, unless you log in before. Lists that ' +
        'have no other owner pass to the editor who was invited first, or else they are erased, too.',
      auth: context.tokens.guard(),
      responses: { 200: { description: 'Your account will be erased', body: Leaving } },
      problems: [403],
    },
    async (input) => {
      const erasedAt = await leave(context, actorOf(context, input));
      return { status: 200, headers: noStore, body: { erasedAt } };
    },
  ),
  exportRoute(context),
];
