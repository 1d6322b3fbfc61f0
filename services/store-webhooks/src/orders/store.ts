import type { Sql } from 'postgres';
import type { Fragment } from '../db/sql.ts';
import type { OrderRow } from './schema.ts';

const columns = (sql: Sql) =>
  sql`id, status, consumer_id as "consumerId", details, updated_at as "updatedAt"`;

/** The last changed first. */
export const listOrders = (sql: Sql, storeId: string): Fragment =>
  sql`select ${columns(sql)} from orders where store_id = ${storeId} order by event_id desc`;

export const findOrder = async (sql: Sql, storeId: string, id: string): Promise<OrderRow | undefined> => {
  const [row] = await sql<OrderRow[]>`
    select ${columns(sql)} from orders where store_id = ${storeId} and id = ${id}`;
  return row;
};
