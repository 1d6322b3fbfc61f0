import { emailAddress } from '@platform/mail/address';
import { Conflict } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { users } from '../db/tables.ts';
import { releaseMails } from '../notifications/release.ts';
import { storeId } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';
import { declareList, exactly } from './list.ts';
import { posId, viewOf } from './view.ts';

const UserBody = z.strictObject({
  consumerUserId: text(1, 200).meta({ description: 'The id of the member at the POS' }),
  email: emailAddress,
  firstName: text(0, 200).optional(),
  lastName: text(0, 200).optional(),
  phone: text(0, 50).optional(),
});

const UserView = viewOf(
  'User',
  users,
  'id consumerUserId email firstName lastName phone refreshedAt createdAt',
  { refreshedAt: 'When the POS last sent something new' },
);

export const userList = declareList({
  table: users,
  latest: users.id,
  name: 'users',
  tag: 'Users',
  summary: 'The users, newest first',
  view: UserView,
  filters: { consumerUserId: exactly(users.consumerUserId, posId) },
  one: {
    noun: 'user',
    key: { userId: { column: users.id, schema: z.guid('must be a UUID') } },
    summary: 'One user',
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
      auth: context.verifier.guard('stores:admin'),
      params: storeId,
      body: {
        schema: UserBody,
        example: { consumerUserId: 'demo-member-1', email: 'member@example.test' },
      },
      responses: {
        201: { description: 'The user', body: UserView, headers: { Location: 'Address of the user' } },
      },
      problems: [404, 409],
    },
    async ({ params, body }) => {
      await requireStore(context, params.id);
      const user = { ...body, storeId: params.id, id: sql`uuidv7()`, createdAt: sql`now()` };
      const [row] = await context.database.orm.insert(users).values(user).onConflictDoNothing().returning();
      // Also for one that exists: an earlier request may have failed in between.
      await releaseMails(context.database.sql, [user]);
      if (row === undefined)
        throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
      return { status: 201, headers: { Location: `/v1/stores/${params.id}/users/${row.id}` }, body: row };
    },
  );
