import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { inventoryDirectory } from '../db/directories.ts';
import type { Kind } from '../records/kind.ts';
import { listedRecord } from '../records/listed-record.ts';
import { listByDirectory } from '../records/use-cases.ts';
import { InventoryItem, InventoryItemInput, InventoryItemPatch, InventoryQuery } from './schema.ts';

const kind: Kind = { table: 'inventory', fields: Object.keys(InventoryItem.shape) };

export const inventoryRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'inventory',
    name: 'inventory item',
    kind,
    schema: InventoryItem,
    query: InventoryQuery,
    input: InventoryItemInput,
    patch: InventoryItemPatch,
    examples: {
      id: '0198c5a0-7e57-7000-8c00-000000000001',
      input: {
        partnerId: '0198c5a0-7e57-7000-8a00-000000000000',
        partnerProductId: 'tulip-1',
        productCode: 'TULIP',
        warehouseId: '0198c5a0-7e57-7000-8b00-000000000000',
        quantity: 12,
      },
      patch: { quantity: 12 },
    },
    page: ({ SearchText, ...given }, page) =>
      listByDirectory(
        context,
        inventoryDirectory,
        kind,
        {
          columns: {
            partner_id: given.PartnerId,
            partner_product_id: given.PartnerProductId,
            warehouse_id: given.WarehouseId,
            in_stock: given.IncludeDepleted ? undefined : true,
          },
          text: SearchText,
        },
        page,
      ),
  });
