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
import { followStatus } from './follow-status.ts';
import { clientNameOf, completeConsignment, requireProducts } from './references.ts';
import { isTaken } from './statuses.ts';
import type { Consignment, ConsignmentInput, ConsignmentPatch } from './schema.ts';

export { findReferences, storeDetails } from './queries.ts';
export { completeConsignment } from './references.ts';

/** A patch, with the name of the client that it names. Throws a Problem (422). */
const completePatch = async (
  sql: Queries,
  patch: ConsignmentPatch,
  before: Consignment,
  { clients }: Caller,
): Promise<ConsignmentPatch> => {
  // A limited caller moves the stock of no line that somebody else gave the product of another client.
  const kept = clients && patch.status !== undefined ? before.lines : [];
  const { clientId = before.clientId, lines = kept } = patch;
  const namesClient = 'clientId' in patch || 'clientName' in patch;
  if (!namesClient && lines.length === 0) return patch;
  const references = await findReferences(sql, [{ clientId, lines }], clients);
  requireProducts(lines, references);
  if (!namesClient) return patch;
  return { ...patch, clientName: clientNameOf(clientId, patch.clientName, references) ?? before.clientName };
};

/** A consignment is a row that lists read, and one of its details. */
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
    // After the lines are checked: an error here tells the stock of their products, which a limited caller may not know.
    await followStatus(tx, before, patch, caller.subject);
    return (await findConsignment(tx, id, false)) ?? '';
  },
  remove: async (tx, id, { subject: by }) => {
    const status = await deleteConsignment(tx, id);
    // What was taken out stays out: the record ends, not the journey.
    if (!isTaken(status)) await holdStock(tx, { consignmentId: id, by, reason: null }, []);
  },
};
