import type { Sql } from 'postgres';
import type { Fragment } from '../db/sql.ts';

/** The last changed first. */
export const listMembers = (sql: Sql, storeId: string): Fragment => sql`
  select id, email, first_name as "firstName", last_name as "lastName", phone, status, type,
    version::float8 as modified, updated_at as "updatedAt"
  from members where store_id = ${storeId} order by event_id desc`;

/** Newest first. */
export const listImportJobs = (sql: Sql, storeId: string): Fragment => sql`
  select id, member_id as "memberId", state, attempts, error, user_id as "userId",
    created_at as "createdAt", finished_at as "finishedAt"
  from import_jobs where store_id = ${storeId} order by id desc`;
