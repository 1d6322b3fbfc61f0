import type { Caller } from '@platform/auth/bearer';
import { inTransaction, type Queries } from '@platform/service-kit/record';
import type { Rows } from '../records/rows.ts';
import { mergeDetails, type Details, type Line } from './details.ts';
import {
  findConsignment,
  findReferences,
  hasDetails,
  insertConsignment,
  namesDetails,
  storeDetails,
  updateConsignment,
} from './queries.ts';
import { clientNameOf, completeConsignment, requireProducts, type References } from './references.ts';
import type { ConsignmentInput, ConsignmentPatch } from './schema.ts';

export { completeConsignment } from './references.ts';

/** What these consignments name and we have. A caller who is limited to some clients names nothing of others. */
export const referencesOf = (
  sql: Queries,
  consignments: readonly { clientId: string; lines: readonly Line[] }[],
  { clients }: Caller,
): Promise<References> => {
  const clientIds = new Set(consignments.map(({ clientId }) => clientId));
  const productIds = new Set(consignments.flatMap(({ lines }) => lines.map(({ productId }) => productId)));
  productIds.delete(null);
  return findReferences(sql, { clientIds: [...clientIds], productIds: [...productIds] as string[] }, clients);
};

/** Stores the details of new consignments, of those that have any. */
export const storeGivenDetails = async (
  sql: Queries,
  ids: readonly string[],
  inputs: readonly ConsignmentInput[],
): Promise<void> => {
  const given = inputs.flatMap((input, index) =>
    hasDetails(input) ? [[ids[index] ?? '', input] as const] : [],
  );
  if (given.length > 0) await storeDetails(sql, given);
};

/** A patch, with the name of the client that it names. Throws a Problem (422). */
const completePatch = async (
  sql: Queries,
  patch: ConsignmentPatch,
  before: { clientId: string; clientName: string },
  caller: Caller,
): Promise<ConsignmentPatch> => {
  const { clientId = before.clientId, lines = [] } = patch;
  const namesClient = 'clientId' in patch || 'clientName' in patch;
  if (!namesClient && lines.length === 0) return patch;
  const references = await referencesOf(sql, [{ clientId, lines }], caller);
  requireProducts(lines, references);
  if (!namesClient) return patch;
  return { ...patch, clientName: clientNameOf(clientId, patch.clientName, references) ?? before.clientName };
};

/** A consignment is a row that lists read, and one of its details. */
export const consignmentRows: Rows<ConsignmentInput, ConsignmentPatch> = {
  find: findConsignment,
  insert: (sql, id, input, caller) =>
    inTransaction(sql, async (tx) => {
      await insertConsignment(tx, id, completeConsignment(input, await referencesOf(tx, [input], caller)));
      await storeDetails(tx, [[id, input]]);
      return (await findConsignment(tx, id, false)) ?? '';
    }),
  update: async (sql, id, patch, current, caller) => {
    const before = JSON.parse(current) as Details & { clientId: string; clientName: string };
    await updateConsignment(sql, id, await completePatch(sql, patch, before, caller));
    if (namesDetails(patch)) await storeDetails(sql, [[id, mergeDetails(before, patch)]]);
    return (await findConsignment(sql, id, false)) ?? '';
  },
};
