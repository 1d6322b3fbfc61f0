import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { details, patchedAddresses } from './details.ts';
import { code, recordSchemas, uuid } from '../records/schema.ts';

const schemas = recordSchemas(
  'Consignment',
  {
    consignmentNumber: text(1, 100),
    clientId: uuid('The client, here or in another system'),
    clientName: text(1, 200).meta({ description: 'The name of the partner, where clientId is one of ours' }),
    carrierId: uuid('The carrier, here or in another system').nullable().default(null),
    warehouseId: uuid('The warehouse, here or in another system').nullable().default(null),
    status: code(
      'draft',
      'booked',
      'picking',
      'packed',
      'dispatched',
      'in transit',
      'delivered',
      'cancelled',
    ).default(0),
    ediStatus: code('none', 'queued', 'sent', 'acknowledged', 'failed').default(0),
    externalId: text(1, 200).nullable().default(null),
    reference: text(1, 200).nullable().default(null),
  },
  { createdAt: instant(), updatedAt: instant() },
  details,
);

export const consignmentSchemas = {
  ...schemas,
  input: schemas.input.partial({ clientName: true }).meta({ id: 'ConsignmentInput' }),
  patch: schemas.patch.extend(z.object(patchedAddresses).partial().shape).meta({ id: 'ConsignmentPatch' }),
};

export const ConsignmentInput = consignmentSchemas.input;
export type ConsignmentInput = z.output<typeof ConsignmentInput>;
export type NewConsignment = ConsignmentInput & { clientName: string };
export type ConsignmentPatch = z.output<typeof consignmentSchemas.patch>;
