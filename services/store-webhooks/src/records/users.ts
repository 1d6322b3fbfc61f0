import { emailAddress } from '@platform/mail/address';
import { ormOf } from '@platform/service-kit/db';
import { isoTime } from '@platform/service-kit/json-table';
import { Conflict } from '@platform/service-kit/problem';
import { inTransaction, record, type Queries, type Stored } from '@platform/service-kit/record';
import { instant, text } from '@platform/service-kit/text';
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { arrayOf } from '../db/sql.ts';
import { users } from '../db/tables.ts';
import { releaseMails, type Customer } from '../notifications/release-mails.ts';
import { StorePath } from '../stores/routes.ts';
import { findStoreToChange } from '../stores/use-cases.ts';
import { exactly } from './filters.ts';
import { declareList } from './list.ts';
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
    .meta({ description: 'Language of the mails to the customer, if there are texts in it' }),
});

const UserView = viewOf(
  'User',
  users,
  'id consumerUserId email firstName lastName phone language refreshedAt createdAt',
  {
    email: z.string().nullable().meta({ format: 'email' }),
    refreshedAt: 'When the POS last sent a change',
    verification: z
      .object({
        status: z.string().meta({ description: 'In the words of the provider' }),
        service: z.string(),
        updatedAt: instant(),
      })
      .nullable()
      .meta({ description: 'The verification with this consumerUserId that changed last' }),
  },
);

/** The SQL names the table `users`, because a column of `verifications` has the same name. */
const verification = sql`(
  select jsonb_build_object('status', v.status, 'service', v.service,
    'updatedAt', ${sql.raw(isoTime('v.updated_at'))})
  from verifications v where v.store_id = users.store_id and v.user_id = users.consumer_user_id
  order by v.event_id desc limit 1)`.as('verification');

const create = (context: Context, on: Queries, user: Customer & z.output<typeof UserBody>): Promise<Stored> =>
  inTransaction(on, async (tx) => {
    const db = ormOf(tx, context.database);
    await findStoreToChange(db, user.storeId, false);
    const [row] = await db
      .insert(users)
      .values({ ...user, id: sql`uuidv7()`, createdAt: sql`now()` })
      .onConflictDoNothing()
      .returning();
    if (row === undefined)
      throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
    await releaseMails(tx, [user]);
    return { id: row.id, json: JSON.stringify(await userList.find(db, user.storeId, { id: row.id })) };
  });

/** Deletes the stored answers of the Idempotency-Keys with which these users were registered. */
export const deleteStoredAnswers = (sql: Queries, userIds: readonly string[]) => sql`
  delete from idempotency_keys where answer::json ->> 'id' = any (${arrayOf(userIds)}::text::text[])`;

export const userList = declareList({
  table: users,
  columns: { ...getTableColumns(users), verification },
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
        parents: StorePath,
        computed: ['verification'],
        create: {
          input: UserBody,
          example: { consumerUserId: 'my-member', email: 'member@example.test' },
          conflict:
            'Registers a customer who is a member at the POS; 409 if the store has a user with this id.',
          insert: (on, body, { params }) => create(context, on, { ...body, ...params }),
        },
        remove: {
          delete: async (on, { params: { storeId: store, userId } }) => {
            const condition = and(eq(users.storeId, String(store)), eq(users.id, String(userId)));
            await ormOf(on, context.database).delete(users).where(condition);
            await deleteStoredAnswers(on, [String(userId)]);
          },
        },
      }),
  },
});
