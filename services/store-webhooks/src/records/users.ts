import { emailAddress } from '@platform/mail/address';
import { ormOf } from '@platform/service-kit/db';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, record, type Queries } from '@platform/service-kit/record';
import { text } from '@platform/service-kit/text';
import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { users } from '../db/tables.ts';
import { releaseMails, type Customer } from '../notifications/release.ts';
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
  language: z
    .string()
    .regex(/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/, 'must be a BCP 47 language tag, such as de or pt-BR')
    .optional()
    .meta({ description: 'Of the mails to the customer, where there are texts in it' }),
});

const UserView = viewOf(
  'User',
  users,
  'id consumerUserId email firstName lastName phone language refreshedAt createdAt',
  { refreshedAt: 'When the POS last sent something new' },
);

const create = (context: Context, on: Queries, user: Customer & z.output<typeof UserBody>) =>
  inTransaction(on, async (tx) => {
    const db = ormOf(tx, context.database);
    await requireStore(context, user.storeId, db);
    const [row] = await db
      .insert(users)
      .values({ ...user, id: sql`uuidv7()`, createdAt: sql`now()` })
      .onConflictDoNothing()
      .returning();
    if (row === undefined)
      throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
    await releaseMails(tx, [user]);
    return { id: row.id, json: JSON.stringify(UserView.parse({ ...row, storeId: undefined })) };
  });

export const userList = declareList({
  table: users,
  latest: users.id,
  name: 'users',
  tag: 'Users',
  summary: 'The users, newest first',
  view: UserView,
  filters: { consumerUserId: exactly(users.consumerUserId, posId) },
  single: {
    name: 'user',
    key: { userId: 'id' },
    params: { userId: z.guid('must be a UUID') },
    summary: 'One user',
    operations: (readable, context) =>
      record({
        ...readable,
        parents: storeId,
        create: {
          input: UserBody,
          example: { consumerUserId: 'demo-member-1', email: 'member@example.test' },
          conflict:
            'Registers a customer who is a member at the POS; 409 when the store has a user with this id.',
          insert: (on, body, { params: { id } }) => create(context, on, { ...body, storeId: id }),
        },
        remove: {
          delete: async (on, { params: { id, userId } }) => {
            const isMeant = and(eq(users.storeId, String(id)), eq(users.id, String(userId)));
            await ormOf(on, context.database).delete(users).where(isMeant);
          },
        },
      }),
  },
});
