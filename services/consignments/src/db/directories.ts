import { defineDirectory } from '@platform/pagination/directory';

/** External ids are not a filter: nearly every consignment has its own, and an ordinary index finds it. */
export const consignmentDirectory = defineDirectory({
  table: 'consignments',
  key: ['created_at', 'id'],
  descending: true,
  // The most selective first.
  filters: {
    client_id: 'uuid',
    warehouse_id: 'uuid',
    carrier_id: 'uuid',
    status: 'integer',
    edi_status: 'integer',
  },
});

/** A list without depleted items is filtered by a column that is null in these. */
export const inventoryDirectory = defineDirectory({
  table: 'inventory',
  key: ['created_at', 'id'],
  descending: true,
  filters: {
    stocked_partner_id: 'uuid',
    partner_id: 'uuid',
    stocked_warehouse_id: 'uuid',
    warehouse_id: 'uuid',
    in_stock: 'boolean',
  },
});

/** All of them. */
export const directories = [consignmentDirectory, inventoryDirectory];
