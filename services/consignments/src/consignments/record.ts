import type { Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { consignmentDirectory } from '../db/directories.ts';
import { listedRecord } from '../records/listed-record.ts';
import { int32Filter, searchText, shortTextLimit, textFilter, uuidFilter } from '../records/filters.ts';
import { consignmentRows } from './use-cases.ts';
import { consignmentSchemas, remarkNames } from './schema.ts';

export const consignmentRoutes = (context: Context): Route[] =>
  listedRecord(context, {
    list: 'consignments',
    name: 'consignment',
    directory: consignmentDirectory,
    ...consignmentSchemas,
    rows: consignmentRows,
    change: {
      unprocessable:
        '422 `client_name_mismatch` if clientId is the id of a partner with another name, `unknown_product` if a line names an unknown inventory item.',
      conflict:
        '409 `transition_not_allowed` if the status cannot follow the current one; `not_enough_stock`, with `left`.',
      remarks: remarkNames,
    },
    searchText: searchText('consignmentNumber, clientName, externalId or reference', shortTextLimit),
    filters: {
      ClientId: uuidFilter('Only consignments of this client'),
      CarrierId: uuidFilter('Only consignments of this carrier'),
      WarehouseId: uuidFilter('Only consignments of this warehouse'),
      Status: int32Filter('Only consignments of this status'),
      EdiStatus: int32Filter('Only consignments of this EDI status'),
      ExternalId: textFilter('Only consignments with exactly this externalId'),
    },
    examples: {
      id: '0198c5a0-7e57-7000-8d00-000000000001',
      input: {
        consignmentNumber: 'CN-1',
        clientId: '0198c5a0-7e57-7000-8a00-000000000000',
        clientName: 'Van Dijk Flowers',
        lines: [{ description: 'Red tulips, bunch of fifty', quantity: 2 }],
      },
      patch: { reference: 'PO 4711' },
    },
  });
