import { Conflict } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { recordEvent } from '../../reporting/audit.ts';
import { problemOf, type TransferPath } from '../transfers.ts';
import type { NewAdjustment } from './schema.ts';
import {
  findAdjustment,
  insertAdjustment,
  lockAdjustments,
  markApproved,
  markEnded,
  markMoving,
  movedInLastDay,
  type AdjustmentRow,
  type AdjustmentRequest,
} from './queries.ts';

/**
 * Stores a requested adjustment. Returns `movedAt` when it may be booked: it is within the limit for 24 hours (`moved` is
 * the sum of the others), or another person has approved it. Throws NotFound, and Conflict `duplicate_transaction`.
 */
const reserve = ({ database: { sql }, env }: Context, by: string, request: AdjustmentRequest) =>
  sql.begin(async (tx) => {
    await lockAdjustments(tx);
    await insertAdjustment(tx, by, request);
    const row = orNotFound(await findAdjustment(tx, request), 'player');
    const { amount, reason, note } = request;
    if (row.amount !== decimal(amount) || row.reason !== reason || row.note !== note)
      throw new Conflict('duplicate_transaction', 'This transactionId was used with other parameters.');
    if (row.balance !== null) return { row, moved: '0', movedAt: undefined };
    const moved = await movedInLastDay(tx, row);
    const isWithinLimit = BigInt(moved) + BigInt(Math.abs(amount)) <= BigInt(env.ADJUSTMENT_MAX_AMOUNT);
    const isAllowed = isWithinLimit || (row.isApproved && row.approvedBy !== by);
    return { row, moved, movedAt: isAllowed ? await markMoving(tx, request) : undefined };
  });

/**
 * Books an adjustment. A repeated transactionId returns the first answer and moves nothing. Throws the errors of `reserve`
 * and of transfers, and Conflict `approval_needed`: the caller must send it again after the approval.
 */
export const bookAdjustment = async (
  ctx: Context,
  by: string,
  playerId: string,
  { transactionId, amount, reason, note }: z.output<typeof NewAdjustment>,
): Promise<AdjustmentRow> => {
  const details = { by, transactionId, amount, reason, note };
  await recordEvent(ctx.database.sql, 'adjustment_requested', details, playerId);
  const adjustment = { playerId, transactionId, amount: minorUnits(amount), reason, note };
  const { row, moved, movedAt } = await reserve(ctx, by, adjustment);
  if (row.balance !== null) return row;
  if (movedAt === undefined) {
    const limit = decimal(ctx.env.ADJUSTMENT_MAX_AMOUNT);
    throw new Conflict(
      'approval_needed',
      `Adjustments of more than ${limit} ${row.currency} in 24 hours need the approval of another person; others already moved ${decimal(moved)}.`,
    );
  }
  const { requestedBy, approvedBy } = row;
  const metadata = JSON.stringify({ reason, note, requestedBy, approvedBy });
  const outcome = await ctx.ledger.add({ ...adjustment, operation: 'adjustment', metadata });
  const { status, balance } = outcome;
  await markEnded(ctx.database.sql, adjustment, movedAt, status === 'OK');
  if (status !== 'OK' || balance === undefined) throw problemOf(outcome);
  return { ...row, balance: decimal(balance) };
};

/** Throws NotFound. */
export const getAdjustment = async ({ database }: Context, path: z.output<typeof TransferPath>) =>
  orNotFound(await findAdjustment(database.sql, path), 'adjustment');

/**
 * Approves an adjustment that another person requested. An approval is valid for 24 hours; repeating it does not extend it.
 * Throws NotFound, and Conflict `own_adjustment` and `nothing_to_apply`.
 */
export const approveAdjustment = async (
  { database: { sql } }: Context,
  by: string,
  path: z.output<typeof TransferPath>,
) =>
  sql.begin(async (tx) => {
    await lockAdjustments(tx);
    const row = orNotFound(await findAdjustment(tx, path), 'adjustment');
    if (row.requestedBy === by)
      throw new Conflict(
        'own_adjustment',
        'You requested this adjustment, so another person must approve it.',
      );
    if (row.balance !== null) throw new Conflict('nothing_to_apply', 'The adjustment is already booked.');
    if (row.isApproved) return row;
    await markApproved(tx, path, by);
    const { playerId, transactionId, amount, reason, note, requestedBy } = row;
    const details = { by, transactionId, amount, reason, note, requestedBy };
    await recordEvent(tx, 'adjustment_approved', details, playerId);
    return (await findAdjustment(tx, path)) ?? row;
  });
