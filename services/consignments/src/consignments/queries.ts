import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { details, type Details } from './details.ts';
import type { References } from './references.ts';
import { consignmentSchemas, type ConsignmentPatch, type NewConsignment } from './schema.ts';

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

/** Stores the lines and details of consignments by their ids. */
export const storeDetails = async (
  sql: Queries,
  consignments: readonly (readonly [id: string, Details])[],
): Promise<void> => {
  const rows = consignments.map(([id, consignment]) => {
    const { lines, consigneeId, supplierId } = consignment;
    const ids = [consigneeId, supplierId, ...lines.map(({ productId }) => productId)];
    return { id, details: pick(consignment, detailFields), named_ids: ids.filter((named) => named !== null) };
  });
  await sql`
    insert into consignment_details
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) row (id uuid, details jsonb, named_ids uuid[])
    on conflict (id) do update set details = excluded.details, named_ids = excluded.named_ids`;
};

/** Inserts the row that lists read. */
export const insertConsignment = (sql: Queries, id: string, input: NewConsignment): Promise<string> =>
  table.insert(sql, { id, ...pick(input, listedFields) });

/** Changes the row that lists read; also when only details change, because it has the time of the change. */
export const updateConsignment = (sql: Queries, id: string, patch: ConsignmentPatch): Promise<string> =>
  // The time of the database, as instances' clocks may differ.
  table.update(sql, { id }, { ...pick(patch, listedFields), updatedAt: sql`now()` });

/** Whether a patch names lines or details. */
export const namesDetails = (patch: object): boolean => Object.keys(pick(patch, detailFields)).length > 0;

/** Whether a new consignment has lines or details. */
export const hasDetails = (input: object): boolean =>
  Object.values(pick(input, detailFields)).some((value) =>
    Array.isArray(value) ? value.length > 0 : value !== null,
  );

/**
 * What consignments name and we have; of inventory only what belongs to `clients`, if given. The items are locked, so that
 * none is deleted before the transaction ends.
 */
export const findReferences = async (
  sql: Queries,
  named: { clientIds: string[]; productIds: string[] },
  clients: ReadonlySet<string> | undefined,
): Promise<References> => {
  const partners = await sql<{ id: string; name: string }[]>`
    select id, name from partners where id = any(${named.clientIds}::uuid[])`;
  const ofClients = clients ? sql`and partner_id = any(${[...clients]}::uuid[])` : sql``;
  const items =
    named.productIds.length === 0
      ? []
      : await sql<{ id: string }[]>`
        select id from inventory where id = any(${named.productIds}::uuid[]) ${ofClients} order by id for key share`;
  return {
    names: new Map(partners.map(({ id, name }) => [id, name])),
    products: new Set(items.map(({ id }) => id)),
  };
};
