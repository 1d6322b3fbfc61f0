import type { Database } from '@platform/service-kit/db';
import type { ConsignmentInput } from '../consignments/schema.ts';

/** Stores all of them under `ids`, or none. */
export const insertConsignments = async (
  { sql }: Database,
  ids: readonly string[],
  rows: readonly ConsignmentInput[],
): Promise<void> => {
  const all = <Field extends keyof ConsignmentInput>(field: Field) => rows.map((row) => row[field]);
  await sql`
    insert into consignments (
      id, consignment_number, client_id, client_name, carrier_id, warehouse_id, status, edi_status,
      external_id, reference)
    select * from unnest(
      ${ids}::uuid[], ${all('consignmentNumber')}::text[], ${all('clientId')}::uuid[],
      ${all('clientName')}::text[], ${all('carrierId')}::uuid[], ${all('warehouseId')}::uuid[],
      ${all('status')}::int[], ${all('ediStatus')}::int[], ${all('externalId')}::text[],
      ${all('reference')}::text[])`;
};
