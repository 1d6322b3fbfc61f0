import type { Caller } from '@platform/auth/bearer';
import { inTransaction, type Queries } from '@platform/service-kit/record';
import type { Rows } from '../records/rows.ts';
import { holdStock } from '../stock/use-cases.ts';
import { mergeDetails } from './details.ts';
import {
  deleteConsignment,
  findConsignment,
  findReferences,
  insertConsignment,
  storeDetails,
  updateConsignment,
} from './queries.ts';
import { applyStatusChange } from './status-change.ts';
import { clientNameOf, completeConsignment, requireProducts } from './references.ts';
import { isTaken } from './statuses.ts';
import type { Consignment, ConsignmentInput, ConsignmentPatch } from './schema.ts';

export { findReferences, storeDetails } from './queries.ts';
export { completeConsignment } from './references.ts';

/** Checks the client and the products of a patch, and adds the client's name. Throws a Problem (422). */
const completePatch = async (
  sql: Queries,
  patch: ConsignmentPatch,
  before: Consignment,
  { clients }: Caller,
): Promise<ConsignmentPatch> => {
  // Other callers may have stored a line with a product of another client. A limited caller must not move its stock.
  const movedLines = clients && patch.status !== undefined ? before.lines : [];
  const { clientId = before.clientId, lines = movedLines } = patch;
  const namesClient = 'clientId' in patch || 'clientName' in patch;
  if (!namesClient && lines.length === 0) return patch;
  const references = await findReferences(sql, [{ clientId, lines }], clients);
  requireProducts(lines, references);
  if (!namesClient) return patch;
  return { ...patch, clientName: clientNameOf(clientId, patch.clientName, references) ?? before.clientName };
};

/** Stores a consignment as a row that lists read, and a row with its details. */
export const consignmentRows: Rows<ConsignmentInput, ConsignmentPatch> = {
  find: findConsignment,
  insert: (sql, id, input, { clients }) =>
    inTransaction(sql, async (tx) => {
      const references = await findReferences(tx, [input], clients);
      await insertConsignment(tx, id, completeConsignment(input, references));
      await storeDetails(tx, [id], [input]);
      return (await findConsignment(tx, id, false)) ?? '';
    }),
  update: async (tx, id, patch, current, caller) => {
    const before = JSON.parse(current) as Consignment;
    const completed = await completePatch(tx, patch, before, caller);
    await updateConsignment(tx, id, completed, mergeDetails(before, patch));
    // Runs after the check of the lines, because its errors contain the stock of products, which a limited caller may not see.
    await applyStatusChange(tx, before, patch, caller.subject);
    return (await findConsignment(tx, id, false)) ?? '';
  },
  remove: async (tx, id, { subject: by }) => {
    const status = await deleteConsignment(tx, id);
    // Goods that were taken out of stock stay out: only the record is deleted.
    if (!isTaken(status)) await holdStock(tx, { consignmentId: id, by, reason: null }, []);
  },
};
