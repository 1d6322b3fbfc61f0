import type { Details } from '../consignments/details.ts';
import type { LineResult } from '../import/domain.ts';
import { isoColumn } from '@platform/service-kit/columns';
export { idempotencyKeys } from '@platform/service-kit/idempotency';
/** The tables of inventory, stock movements and warehouses. */
export * from './stock.ts';
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  uuid,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core';
import { searchIndex, searchText, times } from './columns.ts';

/** The consignment that a row belongs to; the row is deleted with it. */
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
    check('consignments_status_known', sql`${table.status} between 0 and 8`),
    check('consignments_edi_status_known', sql`${table.ediStatus} between 0 and 4`),
  ],
);

/**
 * Fields that only a single consignment shows. They are in a separate table, because lists and searches do not read them, and
 * JSON, because they are always read and written together. A consignment without such fields may have no row.
 */
export const consignmentDetails = pgTable(
  'consignment_details',
  {
    id: consignmentId('id').primaryKey(),
    details: json().$type<Details>().notNull(),
    /** Ids of the partners and inventory items in `details`. */
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
    /** The first of `relationships`. */
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

/** Status changes of consignments by PATCH. */
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

/**
 * Results of imports, kept for a day, a hundred lines per row (src/import/domain.ts). They are always read and written
 * together, so they are JSON, which PostgreSQL compresses.
 */
export const importResults = pgTable(
  'import_results',
  {
    /** Subject of the token (as JSON with the claim `clients`, if it has one): import ids of two callers are independent. */
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
