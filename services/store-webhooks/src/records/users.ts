import { emailAddress } from '@platform/mail/address';
import { ormOf } from '@platform/service-kit/db';
import { expectedVersions } from '@platform/service-kit/etag';
import { idempotencyKeyHeader, idempotencyKeyOf, onceIfKeyed } from '@platform/service-kit/idempotency';
import { Conflict } from '@platform/service-kit/problem';
import {
  documentedHeaders,
  orNotFound,
  ownRecord,
  requireVersion,
  versionHeaders,
} from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { and, eq, sql } from 'drizzle-orm';
import type { TransactionSql } from 'postgres';
import { z } from 'zod';
import { allow } from '../access.ts';
import type { Context } from '../context.ts';
import { users } from '../db/tables.ts';
import { releaseMails, type Customer } from '../notifications/release.ts';
import { storeId } from '../stores/routes.ts';
import { requireStore } from '../stores/use-cases.ts';
import { declareList, exactly } from './list.ts';
import { recordVersion } from './record.ts';
import { posId, viewOf } from './view.ts';

const UserBody = z.strictObject({
  consumerUserId: text(1, 200).meta({ description: 'The id of the member at the POS' }),
  email: emailAddress,
  firstName: text(0, 200).optional(),
  lastName: text(0, 200).optional(),
  phone: text(0, 50).optional(),
});

const userId = z.guid('must be a UUID');

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
    key: { userId: { column: users.id, schema: userId } },
    summary: 'One user',
  },
});

export const userRoutes = (context: Context): Route[] => {
  const { database } = context;
  const { etag, ifMatch } = documentedHeaders('user');
  const shared = { tag: 'Users', auth: allow(context, 'stores:write') } as const;

  const create = async (tx: TransactionSql, user: Customer & z.output<typeof UserBody>) => {
    const [row] = await ormOf(tx, database)
      .insert(users)
      .values({ ...user, id: sql`uuidv7()`, createdAt: sql`now()` })
      .onConflictDoNothing()
      .returning();
    if (row === undefined)
      throw new Conflict('user_exists', 'The store has a user with this consumerUserId.');
    await releaseMails(tx, [user]);
    return { ...row, storeId: undefined };
  };

  return [
    route(
      {
        ...shared,
        method: 'post',
        path: '/v1/stores/{id}/users',
        operationId: 'createUser',
        summary: 'Register a customer who is a member at the POS',
        params: storeId,
        headers: idempotencyKeyHeader,
        body: {
          schema: UserBody,
          example: { consumerUserId: 'demo-member-1', email: 'member@example.test' },
        },
        responses: {
          201: {
            description: 'The user',
            body: UserView,
            headers: { ...etag, Location: 'Address of the user' },
          },
        },
        problems: [404, 409, 422],
      },
      async ({ params, body, caller, req }) => {
        await requireStore(context, params.id);
        const path = `/v1/stores/${params.id}/users`;
        const user = await onceIfKeyed(
          database.sql,
          { owner: caller.subject, key: idempotencyKeyOf(req), request: { path, body } },
          (tx) => create(tx, { ...body, storeId: params.id }),
        );
        const headers = { ...versionHeaders(recordVersion(user)), Location: `${path}/${user.id}` };
        return { status: 201, headers, body: user };
      },
    ),
    route(
      {
        ...shared,
        method: 'delete',
        path: '/v1/stores/{id}/users/{userId}',
        operationId: 'deleteUser',
        summary: 'Delete a user; the member at the POS stays, and may be imported again',
        params: storeId.extend({ userId }),
        headers: ifMatch('delete'),
        responses: { 204: { description: 'The user is deleted' } },
        problems: [404, 412],
      },
      async ({ params, req }) => {
        const isMeant = and(eq(users.storeId, params.id), eq(users.id, params.userId));
        await database.orm.transaction(async (tx) => {
          const [row] = await tx.select().from(users).where(isMeant).for('update');
          const user = { ...orNotFound(row, 'user'), storeId: undefined };
          requireVersion(expectedVersions(req), recordVersion(user), 'user');
          await tx.delete(users).where(isMeant);
        });
        return { status: 204, headers: ownRecord };
      },
    ),
  ];
};
