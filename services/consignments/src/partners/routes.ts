import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import type { Kind } from '../records/kind.ts';
import { listedRecord } from '../records/listed-record.ts';
import { listRecords } from '../records/use-cases.ts';
import { Partner, PartnerInput, PartnerPatch, PartnerQuery } from './schema.ts';

const kind: Kind = {
  table: 'partners',
  fields: Object.keys(Partner.shape),
  usedBy: [
    ['consignments', 'client_id', 'carrier_id'],
    ['inventory', 'partner_id'],
  ],
};

export const partnerRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'partners',
    name: 'partner',
    kind,
    inUse: '409 `in_use` while a consignment or an inventory item names it.',
    schema: Partner,
    query: PartnerQuery,
    input: PartnerInput,
    patch: PartnerPatch,
    examples: {
      id: '0198c5a0-7e57-7000-8a00-000000000001',
      input: { code: 'P-1', name: 'A partner of mine', relationship: 0 },
      patch: { name: 'Van Dijk Flowers' },
    },
    page: ({ SearchText, Relationship, Status }, page) =>
      listRecords(
        context,
        kind,
        { columns: { relationship: Relationship, status: Status }, text: SearchText },
        page,
      ),
  });
