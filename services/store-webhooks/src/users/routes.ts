import { Conflict } from '@platform/service-kit/problem';
import { route, type Route } from '@platform/service-kit/route';
import { instant, text } from '@platform/service-kit/text';
import { v7 } from 'uuid';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { storeId } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';
import { isoOf, isoOrNull } from '../time.ts';

const UserBody = z.strictObject({
  consumerUserId: text(1, 200).meta({ description: "The member's id at the POS" }),
  email: z.email().max(320),
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
    refreshedAt: instant().nullable().meta({ description: 'When the POS last told something new' }),
    createdAt: instant(),
  })
  .meta({ id: 'User' });

type UserRow = z.input<typeof UserView>;

const show = (row: UserRow): UserRow => ({
  ...row,
  refreshedAt: isoOrNull(row.refreshedAt),
  createdAt: isoOf(row.createdAt),
});

export const userRoutes = (context: Context): Route[] => {
  const { sql } = context.database;
  const columns = sql`
    id, consumer_user_id as "consumerUserId", email, first_name as "firstName", last_name as "lastName",
    phone, refreshed_at as "refreshedAt", created_at as "createdAt"`;
  return [
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
      async ({ params, body }) => {
        await requireStore(context, params.id);
        const { consumerUserId, email, firstName, lastName, phone } = body;
        const [row] = await sql<UserRow[]>`
          insert into users (store_id, id, consumer_user_id, email, first_name, last_name, phone, created_at)
          values (${params.id}, ${v7()}, ${consumerUserId}, ${email}, ${firstName ?? null}, ${lastName ?? null},
            ${phone ?? null}, ${context.now().toISOString()})
          on conflict (store_id, consumer_user_id) do nothing returning ${columns}`;
        if (row === undefined)
          throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
        return { status: 201, body: show(row) };
      },
    ),
    storeList<UserRow, typeof UserView>(context, {
      name: 'users',
      path: 'users',
      tag: 'Users',
      summary: 'The users, newest first',
      item: UserView,
      rows: (store) => sql`select ${columns} from users where store_id = ${store} order by id desc`,
      show,
    }),
  ];
};
