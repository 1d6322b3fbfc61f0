import type { Sql } from 'postgres';
import { v7 } from 'uuid';
import type { Fragment } from '../db/sql.ts';
import type { NewUser, UserRow } from './schema.ts';

const columns = (sql: Sql) => sql`
  id, consumer_user_id as "consumerUserId", email, first_name as "firstName", last_name as "lastName",
  phone, refreshed_at as "refreshedAt", created_at as "createdAt"`;

export const userExists = async (sql: Sql, storeId: string, consumerUserId: string): Promise<boolean> => {
  const [row] = await sql`
    select 1 from users where store_id = ${storeId} and consumer_user_id = ${consumerUserId}`;
  return row !== undefined;
};

/** Newest first. */
export const listUsers = (sql: Sql, storeId: string): Fragment =>
  sql`select ${columns(sql)} from users where store_id = ${storeId} order by id desc`;

/** Undefined where the store has a user with this consumerUserId. */
export const insertUser = async (
  sql: Sql,
  storeId: string,
  { consumerUserId, email, firstName, lastName, phone }: NewUser,
  now: Date,
): Promise<UserRow | undefined> => {
  const [row] = await sql<UserRow[]>`
    insert into users (store_id, id, consumer_user_id, email, first_name, last_name, phone, created_at)
    values (${storeId}, ${v7()}, ${consumerUserId}, ${email}, ${firstName ?? null}, ${lastName ?? null},
      ${phone ?? null}, ${now.toISOString()})
    on conflict (store_id, consumer_user_id) do nothing returning ${columns(sql)}`;
  return row;
};
