import type { TransactionSql } from 'postgres';
import { holdStock } from '../stock/use-cases.ts';
import { findStatusChanges, insertStatusChange } from './history-queries.ts';
import type { Consignment, ConsignmentPatch } from './schema.ts';
import { holdingsIn, movesGoods, requireTransition } from './statuses.ts';

/**
 * Checks and records the change of status that a patch makes, and moves the stock that goes with it, or with other lines.
 * Stock follows the lines from the first change of status that moved some: a consignment that was created as booked came
 * from elsewhere, and so did what it reserved. Throws Conflict `transition_not_allowed`, and a Problem `not_enough_stock`.
 */
export const followStatus = async (
  tx: TransactionSql,
  { id: consignmentId, status: from, lines: linesBefore }: Consignment,
  { status: to = from, lines = linesBefore, force: forced = false, reason: why }: ConsignmentPatch,
  by: string,
): Promise<void> => {
  const reason = why ?? null;
  if (to !== from) {
    if (!forced) requireTransition(from, to);
    await insertStatusChange(tx, { consignmentId, from, to, forced, reason, changedBy: by });
  } else if (lines === linesBefore) return;
  if (!movesGoods({ from, to }) && !(await findStatusChanges(tx, consignmentId)).some(movesGoods)) return;
  await holdStock(tx, { consignmentId, by, reason }, () => holdingsIn(to, lines));
};
