import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { details, type Details, type Line } from './details.ts';
import type { References } from './references.ts';
import { StatusChange, consignmentSchemas, type ConsignmentPatch, type NewConsignment } from './schema.ts';

const listedFields = Object.keys(consignmentSchemas.listed.shape);
const detailFields = Object.keys(details);
const table = jsonTable('consignments', listedFields);

const { json: recordJson } = jsonTable(
  'consignments',
  Object.keys(consignmentSchemas.schema.shape),
  Object.fromEntries(
    detailFields.map((field) => [field, `coalesce(details, '{"lines": [], "parcels": []}') -> '${field}'`]),
  ),
);

/** Changes of the status of consignments, as JSON of their schema. */
export const history = jsonTable('status_changes', Object.keys(StatusChange.shape), {
  from: 'from_status',
  to: 'to_status',
  changedBy: 'created_by',
  changedAt: 'created_at',
});

/**
 * Whether a status change of a consignment has moved stock; `goods` names the place of the goods in each status. PostgreSQL
 * decides it, because a consignment may have any number of status changes.
 */
export const hasMovedGoods = async (sql: Queries, id: string, goods: readonly string[]): Promise<boolean> => {
  const places = sql`${goods as string[]}::text[]`;
  const rows = await sql`
    select from status_changes
    where consignment_id = ${id} and (${places})[from_status + 1] <> (${places})[to_status + 1] limit 1`;
  return rows.length > 0;
};

/** A consignment with its details as JSON text. `lock` locks it until the transaction ends. */
export const findConsignment = async (
  sql: Queries,
  id: string,
  lock: boolean,
): Promise<string | undefined> => {
  // A separate statement: a join that waits for the lock would return the details from before the wait.
  if (lock) await sql`select from consignments where id = ${id} for update`;
  const [row] = await sql<JsonRow[]>`
    select ${sql.unsafe(recordJson)} from consignments left join consignment_details using (id) where id = ${id}`;
  return row?.json;
};

const pick = (values: object, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([field]) => fields.includes(field)));

const isFilled = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.length === 0);

/** Stores the lines and details of consignments that have no details yet; `ids` are in the same order. */
export const storeDetails = async (
  sql: Queries,
  ids: readonly string[],
  consignments: readonly Details[],
): Promise<void> => {
  const rows = consignments.map((consignment, index) => {
    const { lines, consigneeId, supplierId } = consignment;
    const namedIds = [consigneeId, supplierId, ...lines.map(({ productId }) => productId)].filter(isFilled);
    return { id: ids[index], details: pick(consignment, detailFields), named_ids: namedIds };
  });
  const rowsToStore = rows.filter(({ details }) => Object.values(details).some(isFilled));
  if (rowsToStore.length > 0)
    await sql`
      insert into consignment_details
      select * from json_to_recordset(${JSON.stringify(rowsToStore)}::text::json) row (id uuid, details json, named_ids uuid[])`;
};

/** Inserts the row that lists read. */
export const insertConsignment = (sql: Queries, id: string, input: NewConsignment): Promise<string> =>
  table.insert(sql, { id, ...pick(input, listedFields) });

/** Changes the row that lists read and its `updatedAt`, and the details if the patch has any. */
export const updateConsignment = async (
  sql: Queries,
  id: string,
  patch: ConsignmentPatch,
  merged: Details,
): Promise<void> => {
  // The database's time, because the clocks of instances may differ.
  await table.update(sql, { id }, { ...pick(patch, listedFields), updatedAt: sql`now()` });
  if (!detailFields.some((field) => field in patch)) return;
  await sql`delete from consignment_details where id = ${id}`;
  await storeDetails(sql, [id], [merged]);
};

/**
 * Finds the partners and inventory items that consignments refer to (only items of `clients`, if set). Locks the items, so
 * that none is deleted before the transaction ends.
 */
export const findReferences = async (
  sql: Queries,
  consignments: readonly { clientId: string; lines: readonly Line[] }[],
  clients: ReadonlySet<string> | undefined,
): Promise<References> => {
  const clientIds = new Set(consignments.map(({ clientId }) => clientId));
  const partners = await sql<{ id: string; name: string }[]>`
    select id, name from partners where id = any(${[...clientIds]}::uuid[])`;
  const productIds = new Set(
    consignments.flatMap(({ lines }) => lines.flatMap(({ productId }) => productId ?? [])),
  );
  const clientCondition = clients ? sql`and partner_id = any(${[...clients]}::uuid[])` : sql``;
  const items =
    productIds.size === 0
      ? []
      : await sql<{ id: string }[]>`
        select id from inventory where id = any(${[...productIds]}::uuid[]) ${clientCondition} order by id for key share`;
  return {
    names: new Map(partners.map(({ id, name }) => [id, name])),
    products: new Set(items.map(({ id }) => id)),
  };
};

/** Deletes a consignment with its lines, details and history. Returns the status that it had. */
export const deleteConsignment = async (sql: Queries, id: string): Promise<number> => {
  const [row] = await sql<[{ status: number }]>`delete from consignments where id = ${id} returning status`;
  return row.status;
};
