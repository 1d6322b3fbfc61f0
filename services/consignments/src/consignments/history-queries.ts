import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import type { TransactionSql } from 'postgres';
import { v7 } from 'uuid';
import { StatusChange } from './schema.ts';

/** The history of consignments, as JSON of its schema. */
export const history = jsonTable('status_changes', Object.keys(StatusChange.shape), {
  from: 'from_status',
  to: 'to_status',
  changedBy: 'created_by',
  changedAt: 'created_at',
});

/** Whether there is such a consignment. */
export const consignmentExists = async (sql: Queries, id: string): Promise<boolean> =>
  (await sql`select from consignments where id = ${id}`).length > 0;

/** A change of the status of a consignment. */
interface NewStatusChange {
  consignmentId: string;
  from: number;
  to: number;
  forced: boolean;
  reason: string | null;
  changedBy: string;
}

export const insertStatusChange = (tx: TransactionSql, change: NewStatusChange): Promise<string> =>
  history.insert(tx, { id: v7(), ...change });

/** All changes of the status of a consignment. */
export const findStatusChanges = (
  tx: TransactionSql,
  consignmentId: string,
): Promise<{ from: number; to: number }[]> =>
  tx<{ from: number; to: number }[]>`
    select from_status as "from", to_status as "to" from status_changes where consignment_id = ${consignmentId}`;
