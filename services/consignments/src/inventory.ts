import { booleanParameter } from '@platform/pagination/list';
import { inTransaction } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import { instant, text } from '@platform/service-kit/text';
import type { Context } from './context.ts';
import { inventoryDirectory } from './db/directories.ts';
import { searchText, shortTextLimit, textFilter, uuidFilter } from './records/filters.ts';
import { columnsOf, listedRecord } from './records/listed-record.ts';
import { tableRows } from './records/rows.ts';
import { count, recordSchemas, uuid } from './records/schema.ts';
import { setStock } from './stock/use-cases.ts';

const schemas = recordSchemas(
  'InventoryItem',
  {
    partnerId: uuid('Id of the partner that owns the product, here or in another system'),
    partnerProductId: text(1, 200),
    productCode: text(1, 100),
    description: text(0, 500).default(''),
    warehouseId: uuid('Id of the warehouse, here or in another system'),
    quantity: count('Units in the warehouse; 0 means depleted').default(0),
    reserved: count('Units that are reserved, by hand or by consignments').default(0),
  },
  { updatedAt: instant() },
  {},
);

/** A new item cannot have more units reserved than it has. */
const input = schemas.input.refine(({ quantity, reserved }) => quantity < 0 || reserved <= quantity, {
  path: ['reserved'],
  error: 'must be at most quantity',
});

const rows = tableRows('inventory', schemas.schema);

export const inventoryRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'inventory',
    name: 'inventory item',
    directory: inventoryDirectory,
    ...schemas,
    input,
    rows: {
      ...rows,
      insert: (sql, id, { quantity, reserved, ...item }, { subject }) =>
        inTransaction(sql, async (tx) => {
          await rows.insert(tx, id, { ...item, quantity: 0, reserved: 0 });
          await setStock(tx, subject, id, { quantity, reserved });
          return (await rows.find(tx, id, false)) ?? '';
        }),
      update: async (tx, id, { quantity, reserved, ...patch }, _current, { subject }) => {
        await setStock(tx, subject, id, { quantity, reserved });
        return rows.update(tx, id, patch);
      },
    },
    change: {
      conflict:
        '409 `not_enough_stock` unless units reserved by consignments ≤ reserved ≤ quantity afterwards.',
    },
    // Only lines of consignments refer to items, and `refuseUsed` always checks those.
    usedBy: [],
    searchText: searchText('productCode, description or partnerProductId', shortTextLimit),
    filters: {
      PartnerId: uuidFilter('Only products of this partner'),
      PartnerProductId: textFilter('Only products with exactly this partnerProductId'),
      WarehouseId: uuidFilter('Only items in this warehouse'),
      IncludeDepleted: booleanParameter('Whether items with quantity 0 are included'),
    },
    conditions: ({ IncludeDepleted, ...others }) => {
      const { partner_id, warehouse_id, ...columns } = columnsOf(others);
      if (IncludeDepleted) return { partner_id, warehouse_id, ...columns };
      const in_stock = partner_id === undefined && warehouse_id === undefined ? true : undefined;
      return { stocked_partner_id: partner_id, stocked_warehouse_id: warehouse_id, ...columns, in_stock };
    },
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
  });
