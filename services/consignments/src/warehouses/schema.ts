import { pageIndexQuery } from '@platform/pagination/list';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import { int32Filter, searchText } from '../records/filters.ts';
import { code, patchOf } from '../records/schema.ts';

const fields = {
  code: text(1, 100),
  name: text(1, 200),
  city: text(1, 200),
  countryCode: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be two capital letters (ISO 3166-1 alpha-2), such as NL')
    .meta({ description: 'ISO 3166-1 alpha-2' }),
  status: code('inactive', 'active'),
};

export const Warehouse = z.object({ id: z.guid(), ...fields }).meta({ id: 'Warehouse' });

export const WarehouseInput = z
  .strictObject({ ...fields, status: fields.status.default(1) })
  .meta({ id: 'WarehouseInput' });

export const WarehousePatch = patchOf(fields).meta({ id: 'WarehousePatch' });

export const WarehouseQuery = z.strictObject({
  ...pageIndexQuery,
  SearchText: searchText('name, code or city'),
  Status: int32Filter('Only warehouses of this status'),
});
export type WarehouseQuery = z.output<typeof WarehouseQuery>;
