import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { storeId } from '../stores/routes.ts';
import { showUser, UserBody, UserView } from './schema.ts';
import { createUser, pageOfUsers } from './use-cases.ts';

export const userRoutes = (context: Context): Route[] => [
  route(
    {
      method: 'post',
      path: '/v1/stores/{id}/users',
      operationId: 'createUser',
      tag: 'Users',
      summary: 'Register a customer who is a member at the POS',
      caller: context.verifier.guard('stores:admin'),
      params: storeId,
      body: { schema: UserBody },
      responses: { 201: { description: 'The user', body: UserView } },
      problems: [404, 409],
    },
    async ({ params, body }) => ({ status: 201, body: showUser(await createUser(context, params.id, body)) }),
  ),
  storeList(context, {
    name: 'users',
    path: 'users',
    tag: 'Users',
    summary: 'The users, newest first',
    item: UserView,
    page: pageOfUsers,
    show: showUser,
  }),
];
