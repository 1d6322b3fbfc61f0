import { inTransaction } from '@platform/service-kit/record';
import type { Rows } from '../records/rows.ts';
import { mergeDetails, type Details } from './details.ts';
import {
  findConsignment,
  insertConsignment,
  namesDetails,
  replaceDetails,
  storeDetails,
  updateConsignment,
} from './queries.ts';
import type { ConsignmentInput, ConsignmentPatch } from './schema.ts';

export { storeDetails } from './queries.ts';

/** A consignment is a row that lists read, and rows of its lines and details. */
export const consignmentRows: Rows<ConsignmentInput, ConsignmentPatch> = {
  find: findConsignment,
  insert: (sql, id, input) =>
    inTransaction(sql, async (tx) => {
      await insertConsignment(tx, id, input);
      await storeDetails(tx, [id], [input]);
      return (await findConsignment(tx, id, false)) ?? '';
    }),
  update: async (sql, id, patch, current) => {
    await updateConsignment(sql, id, patch);
    if (namesDetails(patch))
      await replaceDetails(sql, id, mergeDetails(JSON.parse(current) as Details, patch));
    return (await findConsignment(sql, id, false)) ?? '';
  },
};
