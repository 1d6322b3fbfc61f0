import type { Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import type { Context } from './context.ts';
import { int32Filter, searchText } from './records/filters.ts';
import { listedRecord } from './records/listed-record.ts';
import { code, recordSchemas } from './records/schema.ts';

const schemas = recordSchemas(
  'Partner',
  {
    code: text(1, 100),
    name: text(1, 200),
    relationship: code('client', 'carrier', 'supplier', 'consignee'),
    status: code('inactive', 'active').default(1),
  },
  {},
  {},
);

export const partnerRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'partners',
    name: 'partner',
    usedBy: [
      ['consignments', 'client_id', 'carrier_id'],
      ['inventory', 'partner_id'],
    ],
    ...schemas,
    searchText: searchText('name or code'),
    filters: {
      Relationship: int32Filter('Only partners of this relationship'),
      Status: int32Filter('Only partners of this status'),
    },
    examples: {
      id: '0198c5a0-7e57-7000-8a00-000000000001',
      input: { code: 'P-1', name: 'A partner of mine', relationship: 0 },
      patch: { name: 'Van Dijk Flowers' },
    },
  });
