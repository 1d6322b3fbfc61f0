import { pageIndexQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { flag, searchText, shortTextLimit, textFilter, uuidFilter } from '../records/filters.ts';
import { count, patchOf, uuid } from '../records/schema.ts';

const fields = {
  partnerId: uuid('The partner whose product it is, here or in another system'),
  partnerProductId: text(1, 200),
  productCode: text(1, 100),
  description: text(0, 500),
  warehouseId: uuid('The warehouse, here or in another system'),
  quantity: count('Units in the warehouse; 0 means depleted'),
  reserved: count('Units that are promised to consignments'),
};

export const InventoryItem = z
  .object({ id: z.guid(), ...fields, updatedAt: instant() })
  .meta({ id: 'InventoryItem' });

export const InventoryItemInput = z
  .strictObject({
    ...fields,
    description: fields.description.default(''),
    quantity: fields.quantity.default(0),
    reserved: fields.reserved.default(0),
  })
  .meta({ id: 'InventoryItemInput' });

export const InventoryItemPatch = patchOf(fields).meta({ id: 'InventoryItemPatch' });

export const InventoryQuery = z.strictObject({
  ...pageIndexQuery,
  SearchText: searchText('productCode, description or partnerProductId', shortTextLimit),
  PartnerId: uuidFilter('Only products of this partner'),
  PartnerProductId: textFilter('Only products with exactly this partnerProductId'),
  WarehouseId: uuidFilter('Only what is in this warehouse'),
  IncludeDepleted: flag('Whether items with quantity 0 are given too'),
});
export type InventoryQuery = z.output<typeof InventoryQuery>;
