import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import type { Kind } from '../records/kind.ts';
import { listedRecord } from '../records/listed-record.ts';
import { listRecords } from '../records/use-cases.ts';
import { Warehouse, WarehouseInput, WarehousePatch, WarehouseQuery } from './schema.ts';

const kind: Kind = {
  table: 'warehouses',
  fields: Object.keys(Warehouse.shape),
  usedBy: [
    ['consignments', 'warehouse_id'],
    ['inventory', 'warehouse_id'],
  ],
};

export const warehouseRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'warehouses',
    name: 'warehouse',
    kind,
    inUse: '409 `in_use` while a consignment or an inventory item names it.',
    schema: Warehouse,
    query: WarehouseQuery,
    input: WarehouseInput,
    patch: WarehousePatch,
    examples: {
      id: '0198c5a0-7e57-7000-8b00-000000000001',
      input: { code: 'W-1', name: 'A warehouse of mine', city: 'Tartu', countryCode: 'EE' },
      patch: { city: 'Tartu' },
    },
    page: ({ SearchText, Status }, page) =>
      listRecords(context, kind, { columns: { status: Status }, text: SearchText }, page),
  });
