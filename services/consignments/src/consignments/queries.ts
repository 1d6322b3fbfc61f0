import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { details, type Details, type Line } from './details.ts';
import type { References } from './references.ts';
import { StatusChange, consignmentSchemas, type ConsignmentPatch, type NewConsignment } from './schema.ts';

const listedFields = Object.keys(consignmentSchemas.listed.shape);
const detailFields = Object.keys(details);
const table = jsonTable('consignments', listedFields);

const { json: wholeRecord } = jsonTable(
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

/** A whole consignment as JSON text. `lock` locks it until the transaction ends. */
export const findConsignment = async (
  sql: Queries,
  id: string,
  lock: boolean,
): Promise<string | undefined> => {
  // In a statement of its own: one that waits for the lock would then read the details as they were before.
  if (lock) await sql`select from consignments where id = ${id} for update`;
  const [row] = await sql<JsonRow[]>`
    select ${sql.unsafe(wholeRecord)} from consignments left join consignment_details using (id) where id = ${id}`;
  return row?.json;
};

const pick = (values: object, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([field]) => fields.includes(field)));

const isGiven = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.length === 0);

/** Stores the lines and details of consignments that have none yet, in the order of their ids. */
export const storeDetails = async (
  sql: Queries,
  ids: readonly string[],
  consignments: readonly Details[],
): Promise<void> => {
  const rows = consignments.map((consignment, index) => {
    const { lines, consigneeId, supplierId } = consignment;
    const named = [consigneeId, supplierId, ...lines.map(({ productId }) => productId)].filter(isGiven);
    return { id: ids[index], details: pick(consignment, detailFields), named_ids: named };
  });
  const given = rows.filter(({ details }) => Object.values(details).some(isGiven));
  if (given.length > 0)
    await sql`
      insert into consignment_details
      select * from json_to_recordset(${JSON.stringify(given)}::text::json) row (id uuid, details json, named_ids uuid[])`;
};

/** Inserts the row that lists read. */
export const insertConsignment = (sql: Queries, id: string, input: NewConsignment): Promise<string> =>
  table.insert(sql, { id, ...pick(input, listedFields) });

/** Changes the row that lists read, which has the time of the change, and the details where the patch names some. */
export const updateConsignment = async (
  sql: Queries,
  id: string,
  patch: ConsignmentPatch,
  merged: Details,
): Promise<void> => {
  // The time of the database, as instances' clocks may differ.
  await table.update(sql, { id }, { ...pick(patch, listedFields), updatedAt: sql`now()` });
  if (!detailFields.some((field) => field in patch)) return;
  await sql`delete from consignment_details where id = ${id}`;
  await storeDetails(sql, [id], [merged]);
};

/**
 * What consignments name and we have; of inventory only what belongs to `clients`, if given. The items are locked, so that
 * none is deleted before the transaction ends.
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
  const ofClients = clients ? sql`and partner_id = any(${[...clients]}::uuid[])` : sql``;
  const items =
    productIds.size === 0
      ? []
      : await sql<{ id: string }[]>`
        select id from inventory where id = any(${[...productIds]}::uuid[]) ${ofClients} order by id for key share`;
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
