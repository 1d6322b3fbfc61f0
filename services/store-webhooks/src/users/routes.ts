import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { emailAddress } from '../notifications/email-address.ts';
import { Conflict } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { users } from '../db/tables.ts';
import { declareList } from '../stores/lists.ts';
import { storeId } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';

const UserBody = z.strictObject({
  consumerUserId: text(1, 200).meta({ description: 'The id of the member at the POS' }),
  email: emailAddress,
  firstName: text(0, 200).optional(),
  lastName: text(0, 200).optional(),
  phone: text(0, 50).optional(),
});

const UserView = z
  .object({
    id: z.uuid(),
    consumerUserId: z.string(),
    email: z.string().nullable(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    phone: z.string().nullable(),
    refreshedAt: instant().nullable().meta({ description: 'When the POS last sent something new' }),
    createdAt: instant(),
  })
  .meta({ id: 'User' });

export const userList = declareList({
  table: users,
  latest: users.id,
  name: 'users',
  tag: 'Users',
  summary: 'The users, newest first',
  view: UserView,
  one: {
    noun: 'user',
    param: 'userId',
    value: z.guid('must be a UUID'),
    operationId: 'getUser',
    summary: 'One user',
    key: users.id,
  },
});

export const createUserRoute = (context: Context): Route =>
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
      responses: {
        201: { description: 'The user', body: UserView, headers: { Location: 'Address of the user' } },
      },
      problems: [404, 409],
    },
    async ({ params, body }) => {
      await requireStore(context, params.id);
      const user = { ...body, storeId: params.id, id: v7(), createdAt: context.now().toISOString() };
      const [row] = await context.database.orm.insert(users).values(user).onConflictDoNothing().returning();
      if (row === undefined)
        throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
      return { status: 201, headers: { Location: `/v1/stores/${params.id}/users/${user.id}` }, body: row };
    },
  );
