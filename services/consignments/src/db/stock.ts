import { isoColumn } from '@platform/service-kit/columns';
import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { searchIndex, searchText, times } from './columns.ts';

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
    /** Null for a depleted item, because the page directory supports a filter on one column only. */
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
 * Changes of stock, by hand or by the status of a consignment. The movements of an item add up to its stock; the movements
 * of a consignment add up to what it has reserved and taken out.
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
    /** Null for a movement of a consignment, and if POST or PATCH of an item has set its stock. */
    reference: text(),
    reason: text(),
    consignmentId: uuid('consignment_id'),
    createdBy: text('created_by').notNull(),
    /** A time while the item was locked, so that movements are in the order in which they changed the stock. */
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
