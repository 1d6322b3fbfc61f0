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
  movedLately,
  type AdjustmentRow,
  type Asked,
} from './queries.ts';

/**
 * Keeps what is asked for. `movedAt` is set when the ledger may be asked: the amount is within what adjustments may move
 * in 24 hours (`moved`: others), or another person has approved it. Throws NotFound, and Conflict `duplicate_transaction`.
 */
const reserve = ({ database: { sql }, env }: Context, by: string, asked: Asked) =>
  sql.begin(async (tx) => {
    await lockAdjustments(tx);
    await insertAdjustment(tx, by, asked);
    const row = orNotFound(await findAdjustment(tx, asked), 'player');
    if (row.amount !== decimal(asked.amount) || row.reason !== asked.reason || row.note !== asked.note)
      throw new Conflict('duplicate_transaction', 'This transactionId was used with other parameters.');
    if (row.balance !== null) return { row, moved: '0', movedAt: undefined };
    const moved = await movedLately(tx, row);
    const isWithin = BigInt(moved) + BigInt(Math.abs(asked.amount)) <= BigInt(env.ADJUSTMENT_MAX_AMOUNT);
    const isAllowed = isWithin || (row.isApproved && row.approvedBy !== by);
    return { row, moved, movedAt: isAllowed ? await markMoving(tx, asked) : undefined };
  });

/**
 * Books an adjustment. A repeated transactionId returns the first answer and moves nothing. Throws the errors of
 * `reserve` and of transfers, and Conflict `approval_needed`: then it is booked when it is sent again after the approval.
 */
export const makeAdjustment = async (
  ctx: Context,
  by: string,
  playerId: string,
  { transactionId, amount, reason, note }: z.output<typeof NewAdjustment>,
): Promise<AdjustmentRow> => {
  const details = { by, transactionId, amount, reason, note };
  await recordEvent(ctx.database.sql, 'adjustment_requested', details, playerId);
  const asked = { playerId, transactionId, amount: minorUnits(amount), reason, note };
  const { row, moved, movedAt } = await reserve(ctx, by, asked);
  if (row.balance !== null) return row;
  if (movedAt === undefined) {
    const most = decimal(ctx.env.ADJUSTMENT_MAX_AMOUNT);
    const before = `Other adjustments of the last 24 hours moved ${decimal(moved)} ${row.currency}; together with this one`;
    throw new Conflict(
      'approval_needed',
      `${before}, more than ${most} needs the approval of another person.`,
    );
  }
  const { requestedBy, approvedBy } = row;
  const metadata = JSON.stringify({ reason, note, requestedBy, approvedBy });
  const outcome = await ctx.ledger.add({ ...asked, operation: 'adjustment', metadata });
  const { status, balance } = outcome;
  await markEnded(ctx.database.sql, asked, movedAt, status === 'OK');
  if (status !== 'OK' || balance === undefined) throw problemOf(outcome);
  return { ...row, balance: decimal(balance) };
};

/** Throws NotFound. */
export const getAdjustment = async ({ database }: Context, path: z.output<typeof TransferPath>) =>
  orNotFound(await findAdjustment(database.sql, path), 'adjustment');

/**
 * Approves an adjustment of another person; the first approval counts, for 24 hours. Throws NotFound, and Conflict
 * `own_adjustment` and `nothing_to_apply`.
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
        'You asked for this adjustment, so another person must approve it.',
      );
    if (row.balance !== null) throw new Conflict('nothing_to_apply', 'The adjustment is booked already.');
    if (row.isApproved) return row;
    await markApproved(tx, path, by);
    const { playerId, transactionId, amount, reason, note, requestedBy } = row;
    const details = { by, transactionId, amount, reason, note, requestedBy };
    await recordEvent(tx, 'adjustment_approved', details, playerId);
    return (await findAdjustment(tx, path)) ?? row;
  });
