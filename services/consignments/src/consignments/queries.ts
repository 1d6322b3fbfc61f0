import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import postgres from 'postgres';
import { details, type Details } from './details.ts';
import type { References } from './references.ts';
import { consignmentSchemas, type ConsignmentPatch, type NewConsignment } from './schema.ts';

const listedFields = Object.keys(consignmentSchemas.listed.shape);
const detailFields = Object.keys(details);
const table = jsonTable('consignments', listedFields);

const { json: wholeRecord } = jsonTable('consignments', Object.keys(consignmentSchemas.schema.shape), {
  parcels: `coalesce(parcels, '[]')`,
  lines: `(
    select coalesce(json_agg(line), '[]') from (
      select product_id as "productId", description, quantity, unit
      from consignment_lines where consignment_id = consignments.id order by position) line)`,
});

/** A whole consignment as JSON text. `lock` locks it until the transaction ends. */
export const findConsignment = async (
  sql: Queries,
  id: string,
  lock: boolean,
): Promise<string | undefined> => {
  // In a statement of its own: one that waits for the lock would then read lines and details as they were before.
  if (lock) await sql`select from consignments where id = ${id} for update`;
  const [row] = await sql<JsonRow[]>`
    select ${sql.unsafe(wholeRecord)} from consignments left join consignment_details using (id) where id = ${id}`;
  return row?.json;
};

const pick = (values: object, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([field]) => fields.includes(field)));

/** The fields as JSON that `json_populate_recordset` reads. */
const rowOf = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [postgres.fromCamel(field), value]));

const isGiven = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.length === 0);

/** Stores the lines and details of new consignments, in the order of their ids. */
export const storeDetails = async (
  sql: Queries,
  ids: readonly string[],
  all: readonly Details[],
): Promise<void> => {
  const others = detailFields.filter((field) => field !== 'lines');
  const lineRows = all.flatMap(({ lines }, index) =>
    lines.map((line, position) => ({ consignment_id: ids[index], position, ...rowOf(line) })),
  );
  const detailRows = all
    .map((consignment, index) => ({ id: ids[index], fields: pick(consignment, others) }))
    .filter(({ fields }) => Object.values(fields).some(isGiven))
    .map(({ id, fields }) => ({ id, ...rowOf(fields) }));
  for (const [name, rows] of Object.entries({
    consignment_lines: lineRows,
    consignment_details: detailRows,
  }))
    if (rows.length > 0)
      await sql`
        insert into ${sql(name)}
        select * from json_populate_recordset(null::${sql(name)}, ${JSON.stringify(rows)}::text::json)`;
};

/** Inserts the row that lists read. */
export const insertConsignment = (sql: Queries, id: string, input: NewConsignment): Promise<string> =>
  table.insert(sql, { id, ...pick(input, listedFields) });

/** Changes the row that lists read; also when only details change, because it has the time of the change. */
export const updateConsignment = (sql: Queries, id: string, patch: ConsignmentPatch): Promise<string> =>
  // The time of the database, as instances' clocks may differ.
  table.update(sql, { id }, { ...pick(patch, listedFields), updatedAt: sql`now()` });

/** Whether a patch names lines or details. */
export const namesDetails = (patch: object): boolean =>
  Object.keys(patch).some((field) => detailFields.includes(field));

/** Stores lines and details in place of those that a consignment has. */
export const replaceDetails = async (sql: Queries, id: string, replacement: Details): Promise<void> => {
  await sql`delete from consignment_lines where consignment_id = ${id}`;
  await sql`delete from consignment_details where id = ${id}`;
  await storeDetails(sql, [id], [replacement]);
};

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
