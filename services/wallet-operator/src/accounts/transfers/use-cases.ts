import { Conflict, NotFound, Problem } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import type { z } from 'zod';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Context } from '../../context.ts';
import type { Outcome } from '../../ledger/state.ts';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { Direction, NewTransfer, Transfer, TransferPath } from './schema.ts';
import { findTransfer } from './queries.ts';

type TransferView = z.input<typeof Transfer>;

const unprocessable = (code: string, detail: string, members: Record<string, string> = {}): Problem =>
  new Problem({ status: 422, code, detail, members });

/** Why a transfer or an adjustment was refused. */
export const problemOf = ({ reason, balance = '0', limit }: Outcome): Problem => {
  if (limit) {
    const [most, remaining] = [decimal(limit.limit), decimal(limit.remaining)];
    const detail = `The deposit limit is ${most} (${limit.period}); ${remaining} may still be deposited.`;
    return unprocessable('deposit_limit_reached', detail, { period: limit.period, limit: most, remaining });
  }
  switch (reason) {
    case 'player_unknown':
      return new NotFound('player');
    case 'player_disabled':
      return unprocessable('player_disabled', 'The player is disabled.');
    case 'player_excluded':
      return unprocessable('player_self_excluded', 'The player is self-excluded.');
    case 'parameters_differ':
      return new Conflict('duplicate_transaction', 'This transactionId was used with other parameters.');
    case 'no_money':
      return unprocessable('not_enough_money', `The balance is ${decimal(balance)}.`);
    default:
      return unprocessable('balance_overflow', 'No balance can be that large.');
  }
};

/** Books a deposit or a withdrawal. A repeated transactionId returns the first answer and moves nothing. */
export const makeTransfer = async (
  ctx: Context,
  by: string,
  direction: Direction,
  playerId: string,
  { transactionId, amount }: z.output<typeof NewTransfer>,
): Promise<TransferView> => {
  const details = { by, operation: direction, transactionId, amount };
  await recordEvent(ctx.database.sql, { kind: 'transfer_requested', playerId, details });
  const minor = minorUnits(amount);
  const outcome = await ctx.ledger.add({ operation: direction, playerId, transactionId, amount: minor });
  const { status, balance } = outcome;
  if (status !== 'OK' || balance === undefined) throw problemOf(outcome);
  return { playerId, transactionId, amount: decimal(String(minor)), balance: decimal(balance) };
};

/** Throws NotFound. */
export const getTransfer = async (
  { database }: Context,
  direction: Direction,
  path: z.output<typeof TransferPath>,
): Promise<TransferView> => orNotFound(await findTransfer(database.sql, direction, path), direction);
