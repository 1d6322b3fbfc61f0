import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';
import { details, patchedAddresses } from './details.ts';
import { code, recordSchemas, uuid } from '../records/schema.ts';
import { statuses } from './statuses.ts';

const schemas = recordSchemas(
  'Consignment',
  {
    consignmentNumber: text(1, 100),
    clientId: uuid('Id of the client, here or in another system'),
    clientName: text(1, 200).meta({ description: 'The name of the partner, if clientId is the id of one' }),
    carrierId: uuid('Id of the carrier, here or in another system').nullable().default(null),
    warehouseId: uuid('Id of the warehouse, here or in another system').nullable().default(null),
    status: code(...statuses).default(0),
    ediStatus: code('none', 'queued', 'sent', 'acknowledged', 'failed').default(0),
    externalId: text(1, 200).nullable().default(null),
    reference: text(1, 200).nullable().default(null),
  },
  { createdAt: instant(), updatedAt: instant() },
  details,
);

/** Fields of a patch that are stored in the history, not in the consignment. */
const remarks = {
  force: z.boolean().meta({ description: 'Allows any status; requires a reason' }),
  reason: text(1, 500).meta({ description: 'Why the status changes; stored in the history' }),
};
export const remarkNames = Object.keys(remarks);

export const consignmentSchemas = {
  ...schemas,
  input: schemas.input.partial({ clientName: true }).meta({ id: 'ConsignmentInput' }),
  patch: schemas.patch
    .extend(z.object({ ...patchedAddresses, ...remarks }).partial().shape)
    .refine(({ force, reason }) => force !== true || reason !== undefined, {
      path: ['reason'],
      error: 'is required with force',
    })
    .meta({ id: 'ConsignmentPatch' }),
};

export const ConsignmentInput = consignmentSchemas.input;
export type ConsignmentInput = z.output<typeof ConsignmentInput>;
export type NewConsignment = ConsignmentInput & { clientName: string };
export type ConsignmentPatch = z.output<typeof consignmentSchemas.patch>;
export type Consignment = z.output<typeof consignmentSchemas.schema>;

/** An entry of the history of a consignment. */
export const StatusChange = z
  .object({
    id: z.guid(),
    from: schemas.schema.shape.status,
    to: schemas.schema.shape.status,
    forced: z.boolean().meta({ description: 'Whether the change was sent with force' }),
    reason: z.string().nullable(),
    changedBy: z.string().meta({ description: 'Subject of the access token' }),
    changedAt: instant(),
  })
  .meta({ id: 'StatusChange' });
