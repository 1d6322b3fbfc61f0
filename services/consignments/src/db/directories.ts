import { directory } from '@platform/pagination/directory';
import { consignments, inventory } from './tables.ts';

/**
 * The orders of the long lists and what they are narrowed by. Tables, indexes and triggers of these are
 * migration 0003, the reading of pages is 0004; directories.test.ts compares them with this.
 */

/** ExternalId is not among the filters: nearly every consignment has its own, which an index finds at once. */
export const consignmentDirectory = directory({
  at: consignments.createdAt,
  id: consignments.id,
  newestFirst: true,
  filters: [
    consignments.clientId,
    consignments.warehouseId,
    consignments.carrierId,
    consignments.status,
    consignments.ediStatus,
  ],
  watched: [consignments.externalId, consignments.searchText],
  carried: [consignments.status, consignments.ediStatus],
});

export const inventoryDirectory = directory({
  at: inventory.createdAt,
  id: inventory.id,
  newestFirst: true,
  filters: [inventory.partnerId, inventory.warehouseId, inventory.inStock],
  watched: [inventory.partnerProductId, inventory.searchText],
  carried: [inventory.inStock],
});

export const directories = [consignmentDirectory, inventoryDirectory];
