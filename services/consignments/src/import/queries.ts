import type { Prunable } from '@platform/service-kit/pruning';
import type { Sql, TransactionSql } from 'postgres';
import type { NewConsignment } from '../consignments/schema.ts';
import type { LineResult } from './domain.ts';

/** An import belongs to the subject of the access token and to the clients that the token is limited to. */
export interface ImportKey {
  owner: string;
  importId: string;
}

interface Slice {
  slice: number;
  results: LineResult[];
}

/**
 * The results of a slice that are at most a day old. Other transactions wait with theirs until this one ends, also
 * when there were none.
 */
export const lockSlice = async (
  sql: TransactionSql,
  { owner, importId }: ImportKey,
  slice: number,
): Promise<LineResult[]> => {
  const [row] = await sql<{ results: LineResult[]; valid: boolean }[]>`
    insert into import_results (owner, import_id, slice, results) values (${owner}, ${importId}, ${slice}, '[]')
    on conflict (owner, import_id, slice) do update set slice = excluded.slice
    returning results, stored_at > now() - interval '24 hours' as valid`;
  return row?.valid ? row.results : [];
};

/** Creates the consignments under `ids`, and stores the results of the slice, in one statement. */
export const storeSlice = async (
  sql: TransactionSql,
  { owner, importId }: ImportKey,
  { slice, results }: Slice,
  ids: readonly string[],
  rows: readonly NewConsignment[],
): Promise<void> => {
  const all = <Field extends keyof NewConsignment>(field: Field) => rows.map((row) => row[field]);
  await sql`
    with created as (
      insert into consignments (
        id, consignment_number, client_id, client_name, carrier_id, warehouse_id, status, edi_status,
        external_id, reference)
      select * from unnest(
        ${ids}::uuid[], ${all('consignmentNumber')}::text[], ${all('clientId')}::uuid[],
        ${all('clientName')}::text[], ${all('carrierId')}::uuid[], ${all('warehouseId')}::uuid[],
        ${all('status')}::int[], ${all('ediStatus')}::int[], ${all('externalId')}::text[],
        ${all('reference')}::text[])
    )
    update import_results set results = ${JSON.stringify(results)}::text::json, stored_at = now()
    where owner = ${owner} and import_id = ${importId} and slice = ${slice}`;
};

/** The first slice from `slice` on that has results which are at most a day old. */
export const findSlice = async (
  sql: Sql,
  { owner, importId }: ImportKey,
  slice: number,
): Promise<Slice | undefined> => {
  const [row] = await sql<Slice[]>`
    select slice, results from import_results
    where owner = ${owner} and import_id = ${importId} and slice >= ${slice}
      and stored_at > now() - interval '24 hours'
    order by slice limit 1`;
  return row;
};

/** Results that are older than a day; deleted in the background. A row has up to a thousand. */
export const outdatedResults: Prunable = {
  table: 'import_results',
  outdated: "stored_at < now() - interval '24 hours'",
  atOnce: 100,
};
