import { Conflict, NotFound, Problem } from '@platform/service-kit/problem';
import type { z } from 'zod';
import { recordEvent } from '../../reporting/audit/use-cases.ts';
import type { Context } from '../../context.ts';
import type { LimitReached } from '../../limits/domain.ts';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { Direction, NewTransfer, Transfer } from './schema.ts';
import { findTransfer } from './queries.ts';

type TransferView = z.input<typeof Transfer>;

const refusals: Record<string, (balance: string | undefined) => Problem> = {
  ERROR_DUPLICATE_TRANSACTION: () =>
    new Conflict('duplicate_transaction', 'This transactionId was used with other parameters.'),
  ERROR_NOT_ENOUGH_MONEY: (balance) =>
    new Problem({
      status: 422,
      code: 'not_enough_money',
      detail: `The balance is ${balance === undefined ? 'too low' : decimal(balance)}.`,
    }),
};

const limitReached = ({ period, limit, remaining }: LimitReached): Problem =>
  new Problem({
    status: 422,
    code: 'deposit_limit_reached',
    detail: `The deposit limit is ${decimal(limit)} (${period}); ${decimal(remaining)} may still be deposited.`,
    members: { period, limit: decimal(limit), remaining: decimal(remaining) },
  });

/** Books a deposit or a withdrawal. A repeated transactionId returns the first answer and moves nothing. */
export const makeTransfer = async (
  ctx: Context,
  by: string,
  direction: Direction,
  playerId: string,
  { transactionId, amount }: z.output<typeof NewTransfer>,
): Promise<TransferView> => {
  const details = { by, operation: direction, transactionId, amount };
  await recordEvent(ctx.database.orm, { kind: 'transfer_requested', playerId, details });
  const minor = minorUnits(amount);
  const outcome = await ctx.ledger.add({ operation: direction, playerId, transactionId, amount: minor });
  const { status, reason, balance, limit } = outcome;
  if (reason === 'player_unknown') throw new NotFound('player');
  if (reason === 'player_disabled')
    throw new Problem({ status: 422, code: reason, detail: 'The player is disabled.' });
  if (reason === 'player_excluded')
    throw new Problem({ status: 422, code: 'player_self_excluded', detail: 'The player is self-excluded.' });
  if (limit) throw limitReached(limit);
  if (status !== 'OK' || balance === undefined) {
    throw (
      refusals[status]?.(balance) ??
      new Problem({ status: 422, code: 'balance_overflow', detail: 'No balance can be that large.' })
    );
  }
  return { playerId, transactionId, amount: decimal(String(minor)), balance: decimal(balance) };
};

/** Throws NotFound. */
export const getTransfer = async (
  { database }: Context,
  direction: Direction,
  playerId: string,
  transactionId: string,
): Promise<TransferView> => {
  const row = await findTransfer(database.sql, direction, playerId, transactionId);
  if (row === undefined) throw new NotFound(direction);
  const amount = decimal(row.amount.replace('-', ''));
  return { playerId, transactionId, amount, balance: decimal(row.balanceAfter) };
};
