import { defineDirectory } from '@platform/pagination/directory';

/** `external_id` has no page directory: nearly every consignment has a different one, and an ordinary index finds it. */
export const consignmentDirectory = defineDirectory({
  table: 'consignments',
  key: ['created_at', 'id'],
  descending: true,
  // The most selective filter comes first.
  filters: {
    client_id: 'uuid',
    warehouse_id: 'uuid',
    carrier_id: 'uuid',
    status: 'integer',
    edi_status: 'integer',
  },
});

/** The list without depleted items filters by the columns `stocked_…`, which are null for depleted items. */
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

export const directories = [consignmentDirectory, inventoryDirectory];
