import { pageIndexQuery } from '@platform/pagination/list';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { int32Filter, searchText } from '../records/filters.ts';
import { code, patchOf } from '../records/schema.ts';

const fields = {
  code: text(1, 100),
  name: text(1, 200),
  relationship: code('client', 'carrier', 'supplier', 'consignee'),
  status: code('inactive', 'active'),
};

export const Partner = z.object({ id: z.guid(), ...fields }).meta({ id: 'Partner' });

export const PartnerInput = z
  .strictObject({ ...fields, status: fields.status.default(1) })
  .meta({ id: 'PartnerInput' });

export const PartnerPatch = patchOf(fields).meta({ id: 'PartnerPatch' });

export const PartnerQuery = z.strictObject({
  ...pageIndexQuery,
  SearchText: searchText('name or code'),
  Relationship: int32Filter('Only partners of this relationship'),
  Status: int32Filter('Only partners of this status'),
});
export type PartnerQuery = z.output<typeof PartnerQuery>;
