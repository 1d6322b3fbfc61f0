import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { consignmentDirectory } from '../db/directories.ts';
import type { Kind } from '../records/kind.ts';
import { listedRecord } from '../records/listed-record.ts';
import { listByDirectory } from '../records/use-cases.ts';
import { Consignment, ConsignmentInput, ConsignmentPatch, ConsignmentQuery } from './schema.ts';

const kind: Kind = { table: 'consignments', fields: Object.keys(Consignment.shape) };

export const consignmentRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'consignments',
    name: 'consignment',
    kind,
    schema: Consignment,
    query: ConsignmentQuery,
    input: ConsignmentInput,
    patch: ConsignmentPatch,
    examples: {
      id: '0198c5a0-7e57-7000-8d00-000000000001',
      input: {
        consignmentNumber: 'CN-1',
        clientId: '0198c5a0-7e57-7000-8a00-000000000000',
        clientName: 'Van Dijk Flowers',
      },
      patch: { reference: 'PO 4711' },
    },
    page: ({ SearchText, ...given }, page) =>
      listByDirectory(
        context,
        consignmentDirectory,
        kind,
        {
          columns: {
            client_id: given.ClientId,
            carrier_id: given.CarrierId,
            warehouse_id: given.WarehouseId,
            status: given.Status,
            edi_status: given.EdiStatus,
            external_id: given.ExternalId,
          },
          text: SearchText,
        },
        page,
      ),
  });
