import { feedCodes } from '@platform/feed';
import { subscriptionCodes } from '@platform/outgoing-webhooks';
import type { ProblemCodes } from '@platform/service-kit/openapi';

/** The codes of problems that some operations have; `app.ts` puts them into the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  ...feedCodes('consignments', 'partners', 'inventory', 'warehouses'),
  ...subscriptionCodes,
  importConsignments: {
    408: ['import_idle'],
    413: ['too_large', 'too_many_lines'],
    422: ['import_id_reused'],
  },
  createConsignment: { 403: ['limited_to_clients'], 422: ['client_name_mismatch', 'unknown_product'] },
  changeConsignment: {
    403: ['limited_to_clients'],
    409: ['transition_not_allowed', 'not_enough_stock', 'too_much_stock'],
    422: ['client_name_mismatch', 'unknown_product'],
  },
  createPartner: { 403: ['limited_to_clients'] },
  createWarehouse: { 403: ['limited_to_clients'] },
  changeWarehouse: { 403: ['limited_to_clients'] },
  deletePartner: { 409: ['in_use'] },
  createInventoryItem: { 403: ['limited_to_clients'] },
  changeInventoryItem: { 403: ['limited_to_clients'], 409: ['not_enough_stock', 'too_much_stock'] },
  deleteInventoryItem: { 409: ['in_use'] },
  createStockMovement: { 409: ['duplicate_reference', 'not_enough_stock', 'too_much_stock'] },
  deleteWarehouse: { 403: ['limited_to_clients'], 409: ['in_use'] },
};
