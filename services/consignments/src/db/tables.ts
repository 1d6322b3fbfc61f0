import type { Details } from '../consignments/details.ts';
import type { LineResult } from '../import/domain.ts';
import { isoColumn } from '@platform/service-kit/columns';
export { idempotencyKeys } from '@platform/service-kit/idempotency';
import { sql, type SQL } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
  type AnyPgColumn,
  type ExtraConfigColumn,
} from 'drizzle-orm/pg-core';

/** Lists are ordered by `created_at` and `id`, both descending. */
const times = {
  createdAt: isoColumn('created_at')
    .notNull()
    .default(sql`now()`),
  updatedAt: isoColumn('updated_at')
    .notNull()
    .default(sql`now()`),
};

/**
 * The text of the searched columns, in normalization form C and with Unicode case folding. They are separated by a
 * character that SearchText cannot contain, so that no match spans two columns. ASCII text is normalized as it is;
 * normalizing it all the same would take a tenth of the time of an import.
 */
const searchText = (columns: () => SQL) =>
  text('search_text')
    .notNull()
    .generatedAlwaysAs(() => {
      const all = sql`(${columns()})`;
      return sql`casefold((case when octet_length${all} = char_length${all} then ${all} else normalize(${all}, nfc) end) collate "pg_unicode_fast")`;
    });

/** Finds texts with three or more consecutive letters or digits. */
const searchIndex = (table: string, column: ExtraConfigColumn) =>
  index(`${table}_search`).using('gin', column.op('gin_trgm_ops'));

/** The consignment that a row belongs to, and is deleted with. */
const consignmentId = (column: string) =>
  uuid(column)
    .notNull()
    .references((): AnyPgColumn => consignments.id, { onDelete: 'cascade' });

/** Ids of clients, carriers and warehouses may come from other systems, so there are no foreign keys. */
export const consignments = pgTable(
  'consignments',
  {
    id: uuid().primaryKey(),
    consignmentNumber: text('consignment_number').notNull(),
    clientId: uuid('client_id').notNull(),
    clientName: text('client_name').notNull(),
    carrierId: uuid('carrier_id'),
    warehouseId: uuid('warehouse_id'),
    status: integer().notNull(),
    ediStatus: integer('edi_status').notNull(),
    externalId: text('external_id'),
    reference: text(),
    ...times,
    searchText: searchText(
      () =>
        sql`consignment_number || chr(31) || client_name || chr(31) || coalesce(external_id, '') || chr(31) || coalesce(reference, '')`,
    ),
  },
  (table) => [
    // The orders that the page directory reads (src/db/directories.ts). The columns after the id answer
    // combinations of two filters from one index.
    ...Object.entries({ client: table.clientId, warehouse: table.warehouseId, carrier: table.carrierId }).map(
      ([name, id]) =>
        index(`consignments_by_${name}`).on(id, table.createdAt, table.id, table.status, table.ediStatus),
    ),
    index('consignments_order').on(table.createdAt, table.id),
    index('consignments_by_status').on(table.status, table.createdAt, table.id, table.ediStatus),
    index('consignments_by_edi_status').on(table.ediStatus, table.createdAt, table.id),
    searchIndex('consignments', table.searchText),
    index('consignments_external_id').on(table.externalId, table.createdAt, table.id),
    check('consignments_status_known', sql`${table.status} between 0 and 7`),
    check('consignments_edi_status_known', sql`${table.ediStatus} between 0 and 4`),
  ],
);

/**
 * What only a single consignment shows: apart from its row, because lists and searches read those, and JSON, because it is
 * always read and written as a whole. A consignment without any of it may have no row.
 */
export const consignmentDetails = pgTable(
  'consignment_details',
  {
    id: consignmentId('id').primaryKey(),
    details: json().$type<Details>().notNull(),
    /** Ids of the partners and inventory items in it. */
    namedIds: uuid('named_ids').array().notNull(),
  },
  (table) => [index('consignment_details_by_named_id').using('gin', table.namedIds)],
);

export const partners = pgTable(
  'partners',
  {
    id: uuid().primaryKey(),
    code: text().notNull(),
    name: text().notNull(),
    relationships: integer().array().notNull(),
    /** The first one. */
    relationship: integer()
      .notNull()
      .generatedAlwaysAs(() => sql`relationships[1]`),
    status: integer().notNull(),
    ...times,
    searchText: searchText(() => sql`name || chr(31) || code`),
  },
  (table) => [
    index('partners_newest').on(table.createdAt, table.id),
    searchIndex('partners', table.searchText),
    check('partners_relationships_known', sql`${table.relationships} <@ '{0,1,2,3}'`),
    check('partners_status_known', sql`${table.status} between 0 and 1`),
  ],
);

/** One row for each product of a partner in a warehouse. */
export const inventory = pgTable(
  'inventory',
  {
    id: uuid().primaryKey(),
    partnerId: uuid('partner_id').notNull(),
    partnerProductId: text('partner_product_id').notNull(),
    productCode: text('product_code').notNull(),
    description: text().notNull(),
    warehouseId: uuid('warehouse_id').notNull(),
    quantity: integer().notNull(),
    reserved: integer().notNull(),
    /** The part of `reserved` that belongs to consignments, which nothing else may release. */
    held: integer().notNull().default(0),
    ...times,
    /** The list omits depleted items by default. */
    inStock: boolean('in_stock')
      .notNull()
      .generatedAlwaysAs(() => sql`quantity > 0`),
    /** Null for a depleted item: the page directory answers a filter on one column. */
    stockedPartnerId: uuid('stocked_partner_id').generatedAlwaysAs(
      () => sql`case when quantity > 0 then partner_id end`,
    ),
    stockedWarehouseId: uuid('stocked_warehouse_id').generatedAlwaysAs(
      () => sql`case when quantity > 0 then warehouse_id end`,
    ),
    searchText: searchText(
      () => sql`product_code || chr(31) || description || chr(31) || partner_product_id`,
    ),
  },
  (table) => [
    index('inventory_order').on(table.createdAt, table.id),
    index('inventory_by_partner').on(table.partnerId, table.createdAt, table.id),
    index('inventory_by_warehouse').on(table.warehouseId, table.createdAt, table.id),
    index('inventory_by_stocked_partner').on(table.stockedPartnerId, table.createdAt, table.id),
    index('inventory_by_stocked_warehouse').on(table.stockedWarehouseId, table.createdAt, table.id),
    index('inventory_by_in_stock').on(table.inStock, table.createdAt, table.id),
    searchIndex('inventory', table.searchText),
    index('inventory_partner_product_id').on(table.partnerProductId, table.createdAt, table.id),
    check(
      'inventory_stock_kept',
      sql`0 <= ${table.held} and ${table.held} <= ${table.reserved} and ${table.reserved} <= ${table.quantity}`,
    ),
  ],
);

/**
 * Changes of stock, by hand or by the status of a consignment. What a consignment has reserved and taken out is the sum of
 * its movements.
 */
export const stockMovements = pgTable(
  'stock_movements',
  {
    id: uuid().primaryKey(),
    inventoryId: uuid('inventory_id')
      .notNull()
      .references(() => inventory.id, { onDelete: 'cascade' }),
    quantity: integer().notNull(),
    reserved: integer().notNull(),
    /** Null for a movement of a consignment. */
    reference: text(),
    reason: text(),
    consignmentId: uuid('consignment_id'),
    createdBy: text('created_by').notNull(),
    /** When the item was locked, so that movements are in the order in which they were made. */
    createdAt: isoColumn('created_at')
      .notNull()
      .default(sql`clock_timestamp()`),
  },
  (table) => [
    uniqueIndex('stock_movements_once').on(table.inventoryId, table.reference),
    index('stock_movements_order').on(table.inventoryId, table.createdAt, table.id),
    index('stock_movements_by_consignment')
      .on(table.consignmentId)
      .where(sql`consignment_id is not null`),
  ],
);

/** Each change of the status of a consignment by PATCH. */
export const statusChanges = pgTable(
  'status_changes',
  {
    id: uuid().primaryKey(),
    consignmentId: consignmentId('consignment_id'),
    fromStatus: integer('from_status').notNull(),
    toStatus: integer('to_status').notNull(),
    forced: boolean().notNull(),
    reason: text(),
    createdBy: text('created_by').notNull(),
    createdAt: isoColumn('created_at')
      .notNull()
      .default(sql`clock_timestamp()`),
  },
  (table) => [index('status_changes_order').on(table.consignmentId, table.createdAt, table.id)],
);

export const warehouses = pgTable(
  'warehouses',
  {
    id: uuid().primaryKey(),
    code: text().notNull(),
    name: text().notNull(),
    city: text().notNull(),
    /** ISO 3166-1 alpha-2. */
    countryCode: text('country_code').notNull(),
    status: integer().notNull(),
    ...times,
    searchText: searchText(() => sql`name || chr(31) || code || chr(31) || city`),
  },
  (table) => [
    index('warehouses_newest').on(table.createdAt, table.id),
    searchIndex('warehouses', table.searchText),
    check('warehouses_status_known', sql`${table.status} between 0 and 1`),
  ],
);

/**
 * The results of an import for a day, a thousand lines a row (src/import/domain.ts): always read and written as a
 * whole, so they are JSON, which PostgreSQL compresses.
 */
export const importResults = pgTable(
  'import_results',
  {
    /** Subject of the token; import ids of two callers are independent. */
    owner: text().notNull(),
    importId: text('import_id').notNull(),
    slice: integer().notNull(),
    results: json().$type<LineResult[]>().notNull(),
    storedAt: isoColumn('stored_at')
      .notNull()
      .default(sql`now()`),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.importId, table.slice] }),
    index('import_results_by_age').on(table.storedAt),
  ],
);
