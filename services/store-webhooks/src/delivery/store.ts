import type { Sql } from 'postgres';
import type { Fragment } from '../db/sql.ts';
import type { JobRow } from './schema.ts';

const columns = (sql: Sql) => sql`
  id, order_id as "orderId", position, status, driver_id as "driverId", driver,
  estimated_arrival as "estimatedArrival", assigned_at as "assignedAt", started_at as "startedAt",
  arrived_at as "arrivedAt", completed_at as "completedAt", updated_at as "updatedAt"`;

/** The last changed first. */
export const listJobs = (sql: Sql, storeId: string): Fragment =>
  sql`select ${columns(sql)} from delivery_jobs where store_id = ${storeId} order by event_id desc`;

export const findJob = async (sql: Sql, storeId: string, id: string): Promise<JobRow | undefined> => {
  const [row] = await sql<JobRow[]>`
    select ${columns(sql)} from delivery_jobs where store_id = ${storeId} and id = ${id}`;
  return row;
};
