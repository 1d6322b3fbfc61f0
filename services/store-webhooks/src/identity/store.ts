import type { Sql } from 'postgres';
import type { Fragment } from '../db/sql.ts';
import type { VerificationRow } from './schema.ts';

const columns = (sql: Sql) => sql`
  service, transaction_id as "transactionId", status, completed, user_id as "userId",
  updated_at as "updatedAt"`;

/** The last changed first. */
export const listVerifications = (sql: Sql, storeId: string): Fragment =>
  sql`select ${columns(sql)} from verifications where store_id = ${storeId} order by event_id desc`;

/** Of two providers with the same transaction id the one that changed last. */
export const findVerification = async (
  sql: Sql,
  storeId: string,
  transactionId: string,
  service?: string,
): Promise<VerificationRow | undefined> => {
  const [row] = await sql<VerificationRow[]>`
    select ${columns(sql)} from verifications
    where store_id = ${storeId} and transaction_id = ${transactionId}
      ${service === undefined ? sql`` : sql`and service = ${service}`}
    order by event_id desc limit 1`;
  return row;
};
