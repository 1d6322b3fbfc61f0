import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import type { Kind } from '../records/kind.ts';
import { recordRoutes } from '../records/routes.ts';
import { listRecords } from '../records/use-cases.ts';
import { Warehouse, WarehouseInput, WarehousePatch, WarehouseQuery } from './schema.ts';

const kind: Kind = { table: 'warehouses', fields: Object.keys(Warehouse.shape) };

export const warehouseRoutes = (ctx: Context): Route[] =>
  recordRoutes(ctx, {
    name: 'warehouses',
    what: 'warehouse',
    noun: 'Warehouse',
    tag: 'Warehouses',
    kind,
    record: Warehouse,
    query: WarehouseQuery,
    input: WarehouseInput,
    patch: WarehousePatch,
    examples: {
      id: '0198c5a0-7e57-7000-8b00-000000000001',
      input: { code: 'W-1', name: 'A warehouse of mine', city: 'Tartu', countryCode: 'EE' },
      patch: { city: 'Tartu' },
    },
    list: (context, { SearchText, Status }, page) =>
      listRecords(context, kind, { columns: { status: Status }, text: SearchText }, page),
  });
