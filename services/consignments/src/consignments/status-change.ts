import type { TransactionSql } from 'postgres';
import { v7 } from 'uuid';
import { holdStock } from '../stock/use-cases.ts';
import { hasMovedGoods, history } from './queries.ts';
import type { Consignment, ConsignmentPatch } from './schema.ts';
import { goodsByStatus, holdingsIn, movesGoods, requireTransition } from './statuses.ts';

/**
 * Checks and records the status change of a patch, and moves the stock for the new status or new lines. Lines move stock only
 * after a status change has moved stock: a consignment that was created as booked comes from another system, and so does its
 * reservation. Throws Conflict `transition_not_allowed`, and a Problem `not_enough_stock`.
 */
export const applyStatusChange = async (
  tx: TransactionSql,
  { id: consignmentId, status: from, lines: linesBefore }: Consignment,
  { status: to = from, lines = linesBefore, force: forced = false, reason: sentReason }: ConsignmentPatch,
  by: string,
): Promise<void> => {
  const reason = sentReason ?? null;
  if (to !== from) {
    if (!forced) requireTransition({ from, to });
    await history.insert(tx, { id: v7(), consignmentId, from, to, forced, reason, changedBy: by });
  } else if (lines === linesBefore) return;
  if (!movesGoods({ from, to }) && !(await hasMovedGoods(tx, consignmentId, goodsByStatus))) return;
  await holdStock(tx, { consignmentId, by, reason }, holdingsIn(to, lines));
};
