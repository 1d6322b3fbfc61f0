import { pageIndexQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { int32Filter, searchText, shortTextLimit, textFilter, uuidFilter } from '../records/filters.ts';
import { code, patchOf, uuid } from '../records/schema.ts';

const fields = {
  consignmentNumber: text(1, 100),
  clientId: uuid('The client, here or in another system'),
  clientName: text(1, 200),
  carrierId: uuid('The carrier, here or in another system').nullable(),
  warehouseId: uuid('The warehouse, here or in another system').nullable(),
  status: code('draft', 'booked', 'picking', 'packed', 'dispatched', 'in transit', 'delivered', 'cancelled'),
  ediStatus: code('none', 'queued', 'sent', 'acknowledged', 'failed'),
  externalId: text(1, 200).nullable(),
  reference: text(1, 200).nullable(),
};

export const Consignment = z
  .object({ id: z.guid(), ...fields, createdAt: instant(), updatedAt: instant() })
  .meta({ id: 'Consignment' });

export const ConsignmentInput = z
  .strictObject({
    ...fields,
    carrierId: fields.carrierId.default(null),
    warehouseId: fields.warehouseId.default(null),
    status: fields.status.default(0),
    ediStatus: fields.ediStatus.default(0),
    externalId: fields.externalId.default(null),
    reference: fields.reference.default(null),
  })
  .meta({ id: 'ConsignmentInput' });
export type ConsignmentInput = z.output<typeof ConsignmentInput>;

export const ConsignmentPatch = patchOf(fields).meta({ id: 'ConsignmentPatch' });

export const ConsignmentQuery = z.strictObject({
  ...pageIndexQuery,
  SearchText: searchText('consignmentNumber, clientName, externalId or reference', shortTextLimit),
  ClientId: uuidFilter('Only consignments of this client'),
  CarrierId: uuidFilter('Only consignments of this carrier'),
  WarehouseId: uuidFilter('Only consignments of this warehouse'),
  Status: int32Filter('Only consignments of this status'),
  EdiStatus: int32Filter('Only consignments of this EDI status'),
  ExternalId: textFilter('Only consignments with exactly this externalId'),
});
export type ConsignmentQuery = z.output<typeof ConsignmentQuery>;
