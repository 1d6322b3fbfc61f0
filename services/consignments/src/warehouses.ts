import type { Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import type { Context } from './context.ts';
import { int32Filter, searchText } from './records/filters.ts';
import { listedRecord } from './records/listed-record.ts';
import { code, countryCode, recordSchemas } from './records/schema.ts';

const schemas = recordSchemas(
  'Warehouse',
  {
    code: text(1, 100),
    name: text(1, 200),
    city: text(1, 200),
    countryCode,
    status: code('inactive', 'active').default(1),
  },
  {},
  {},
);

export const warehouseRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'warehouses',
    name: 'warehouse',
    usedBy: [
      ['consignments', 'warehouse_id'],
      ['inventory', 'warehouse_id'],
    ],
    ...schemas,
    searchText: searchText('name, code or city'),
    filters: {
      Status: int32Filter('Only warehouses of this status'),
    },
    examples: {
      id: '0198c5a0-7e57-7000-8b00-000000000001',
      input: { code: 'W-1', name: 'A warehouse of mine', city: 'Tartu', countryCode: 'EE' },
      patch: { city: 'Tartu' },
    },
  });
