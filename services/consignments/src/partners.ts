import { uniqueList } from '@platform/service-kit/bounded-list';
import type { Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import type { z } from 'zod';
import type { Context } from './context.ts';
import { int32Filter, searchText } from './records/filters.ts';
import { columnsOf, listedRecord } from './records/listed-record.ts';
import { tableRows, type Rows } from './records/rows.ts';
import { code, recordSchemas } from './records/schema.ts';

const relationship = code('client', 'carrier', 'supplier', 'consignee');

const {
  input: body,
  patch: patchBody,
  ...schemas
} = recordSchemas(
  'Partner',
  {
    code: text(1, 100),
    name: text(1, 200),
    relationship,
    status: code('inactive', 'active').default(1),
  },
  {},
  {
    relationships: uniqueList(relationship, 1, 4, 'must not name a relationship twice').meta({
      description: 'All relationships of the partner; `relationship` is the first',
    }),
  },
);

const agree = (partner: { relationship?: number | undefined; relationships?: number[] | undefined }) =>
  partner.relationship === undefined ||
  partner.relationships === undefined ||
  partner.relationship === partner.relationships[0];
const disagreement = { path: ['relationships'], error: 'must begin with relationship' };

const input = body.partial({ relationships: true }).meta({ id: 'PartnerInput' }).refine(agree, disagreement);
const patch = patchBody.refine(agree, disagreement);

const table = tableRows('partners', schemas.schema);
const rows: Rows<z.output<typeof input>, z.output<typeof patch>> = {
  ...table,
  insert: (sql, id, { relationship: first, relationships = [first], ...fields }) =>
    table.insert(sql, id, { ...fields, relationships }),
  update: (sql, id, { relationship: first, ...fields }) =>
    table.update(
      sql,
      id,
      first === undefined || fields.relationships
        ? fields
        : // The new relationship replaces the first one.
          {
            ...fields,
            relationships: sql`array_prepend(${first}::int, array_remove(relationships[2:], ${first}))`,
          },
    ),
};

export const partnerRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'partners',
    name: 'partner',
    usedBy: [
      ['consignments', 'client_id', 'carrier_id'],
      ['inventory', 'partner_id'],
    ],
    ...schemas,
    input,
    patch,
    rows,
    searchText: searchText('name or code'),
    filters: {
      Relationship: int32Filter('Only partners with this relationship, as their first or a further one'),
      Status: int32Filter('Only partners of this status'),
    },
    conditions: ({ Relationship, ...others }) => ({
      ...columnsOf(others),
      relationships: typeof Relationship === 'number' ? { element: Relationship } : undefined,
    }),
    examples: {
      id: '0198c5a0-7e57-7000-8a00-000000000001',
      input: { code: 'P-1', name: 'A partner of mine', relationship: 0 },
      patch: { name: 'Van Dijk Flowers' },
    },
  });
