import type { Prunable } from '@platform/service-kit/pruning';
import type { Sql, TransactionSql } from 'postgres';
import type { NewConsignment } from '../consignments/schema.ts';
import type { LineResult, Slice } from './domain.ts';

/** An import belongs to the subject of the access token and to the clients that the token is limited to. */
export interface ImportKey {
  owner: string;
  importId: string;
}

/**
 * Locks slices until the transaction ends, also those without results. Returns their results that are at most a day old, in
 * any order.
 */
export const lockSlices = async (
  sql: TransactionSql,
  { owner, importId }: ImportKey,
  first: number,
  last: number,
): Promise<LineResult[]> => {
  const rows = await sql<{ results: LineResult[]; valid: boolean }[]>`
    insert into import_results (owner, import_id, slice, results)
    select ${owner}, ${importId}, slice, '[]' from generate_series(${first}::int, ${last}::int) as slice
    on conflict (owner, import_id, slice) do update set slice = excluded.slice
    returning results, stored_at > now() - interval '24 hours' as valid`;
  return rows.flatMap(({ results, valid }) => (valid ? results : []));
};

/** Creates the consignments under `ids`, and stores the results of the slices, in one statement. */
export const storeSlices = async (
  sql: TransactionSql,
  { owner, importId }: ImportKey,
  slices: readonly Slice[],
  ids: readonly string[],
  rows: readonly NewConsignment[],
): Promise<void> => {
  const valuesOf = <Field extends keyof NewConsignment>(field: Field) => rows.map((row) => row[field]);
  await sql`
    with created as (
      insert into consignments (
        id, consignment_number, client_id, client_name, carrier_id, warehouse_id, status, edi_status,
        external_id, reference)
      select * from unnest(
        ${ids}::uuid[], ${valuesOf('consignmentNumber')}::text[], ${valuesOf('clientId')}::uuid[],
        ${valuesOf('clientName')}::text[], ${valuesOf('carrierId')}::uuid[], ${valuesOf('warehouseId')}::uuid[],
        ${valuesOf('status')}::int[], ${valuesOf('ediStatus')}::int[], ${valuesOf('externalId')}::text[],
        ${valuesOf('reference')}::text[])
    )
    update import_results set results = changed.results::json, stored_at = now()
    from unnest(
      ${slices.map(({ slice }) => slice)}::int[],
      ${slices.map(({ results }) => JSON.stringify(results))}::text[]) as changed (slice, results)
    where owner = ${owner} and import_id = ${importId} and import_results.slice = changed.slice`;
};

/** The first slices from `slice` on whose results are at most a day old. */
export const findSlices = (sql: Sql, { owner, importId }: ImportKey, slice: number) => sql<Slice[]>`
  select slice, results from import_results
  where owner = ${owner} and import_id = ${importId} and slice >= ${slice}
    and stored_at > now() - interval '24 hours'
  order by slice limit 10`;

/** Results that are older than a day are deleted in the background. A row has up to a hundred. */
export const outdatedResults: Prunable = {
  table: 'import_results',
  outdated: "stored_at < now() - interval '24 hours'",
  batchSize: 1000,
};
