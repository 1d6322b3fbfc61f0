import { Conflict, NotFound } from '@platform/service-kit/problem';
import type { z } from 'zod';
import { recordEvent } from '../audit/use-cases.ts';
import type { Context } from '../context.ts';
import type { Credit, Debit, Rollback } from '../ledger/command.ts';
import type { Outcome } from '../ledger/outcome.ts';
import { decimal } from '../money.ts';
import type { RepairRequest, Repairs } from './schema.ts';
import { differencesByNumber, markApplying, markDecided, markTried, type DifferenceRow } from './store.ts';
import { reconciliationRow } from './use-cases.ts';

type RepairView = z.input<typeof Repairs>['repairs'][number];

/** The command that repairs a difference; undefined when the contract has none. The same one each time, so it is applied once. */
const commandOf = (difference: DifferenceRow): Debit | Credit | Rollback | undefined => {
  const { repair, reconciliationId, number, transactionId, there, here } = difference;
  const side = repair === 'close_round' ? here : there;
  if (repair === 'ask_game_server' || !side?.roundId || !side.gameCode) return undefined;
  const { playerId, roundId, gameCode } = side;
  const common = { playerId, roundId, gameCode };
  if (repair === 'close_round') {
    // No id of the game server looks like this.
    const id = `reconciliation/${reconciliationId}/${number}`;
    return { ...common, operation: 'credit', transactionId: id, amount: 0, roundClosed: true };
  }
  const amount = Number(side.amount ?? 0);
  const roundClosed = side.roundClosed ?? false;
  if (side.operation === 'debit') return { ...common, operation: 'debit', transactionId, amount };
  if (side.operation === 'credit')
    return { ...common, operation: 'credit', transactionId, amount, roundClosed };
  return {
    ...common,
    operation: 'rollback',
    transactionId,
    reverses: side.reverseTransactionId ?? '',
    roundClosed,
  };
};

const order = ['debit', 'credit', 'rollback'];

/** As they happened at the game server; where it says no time, debits before credits before rollbacks. */
const inOrder = (a: DifferenceRow, b: DifferenceRow): number =>
  (a.there?.at ?? '').localeCompare(b.there?.at ?? '') ||
  order.indexOf(a.there?.operation ?? '') - order.indexOf(b.there?.operation ?? '') ||
  a.number - b.number;

const viewOf = (
  { number, repair, status, reason }: DifferenceRow,
  state: DifferenceRow['state'],
  outcome?: Outcome,
): RepairView => ({
  number,
  repair,
  state,
  status: outcome?.status ?? status,
  reason: outcome === undefined ? reason : (outcome.reason ?? null),
  balance: outcome?.balance === undefined ? null : decimal(outcome.balance),
});

const isDone = ({ state }: DifferenceRow): boolean => state === 'applied';

/** What the ledger would decide. Nothing is written to it, and no player is locked. */
const tryRepairs = async (
  { ledger, database }: Context,
  by: string,
  id: string,
  rows: readonly DifferenceRow[],
): Promise<RepairView[]> => {
  const numbers = rows.map(({ number }) => number);
  await database.orm.transaction(async (tx) => {
    const details = { by, reconciliationId: id, differences: numbers };
    await recordEvent(tx, { kind: 'reconciliation_dry_run', playerId: null, details });
    await markTried(tx, id, numbers);
  });
  const commands = rows.map((row) => (isDone(row) ? undefined : commandOf(row)));
  const outcomes = await ledger.preview(commands.filter((command) => command !== undefined));
  return rows.map((row, at) => viewOf(row, row.state, commands[at] && outcomes.shift()));
};

const applyRepair = async (ctx: Context, by: string, row: DifferenceRow): Promise<RepairView> => {
  const { orm } = ctx.database;
  const command = commandOf(row);
  if (isDone(row) || command === undefined) return viewOf(row, row.state);
  await orm.transaction(async (tx) => {
    const { reconciliationId, number, repair } = row;
    const { playerId, ...asked } = command;
    const details = { by, reconciliationId, number, repair, ...asked };
    await recordEvent(tx, { kind: 'reconciliation_repair_requested', playerId, details });
    await markApplying(tx, row, command.transactionId, by);
  });
  const outcome = await ctx.ledger.add(command);
  return viewOf(row, await markDecided(orm, row, outcome), outcome);
};

/**
 * Repairs differences through the ledger, by its normal rules; a repeated repair changes nothing. Throws NotFound, and
 * Conflict `comparing` before the comparison has ended and `dry_run_first` for a difference without a dry run.
 */
export const repairDifferences = async (
  ctx: Context,
  by: string,
  id: string,
  { dryRun, differences: numbers }: z.output<typeof RepairRequest>,
): Promise<z.input<typeof Repairs>> => {
  const { step } = await reconciliationRow(ctx, id);
  if (step !== 'removing' && step !== 'ended')
    throw new Conflict('comparing', 'The statement is still compared; try again later.');
  const rows = await differencesByNumber(ctx.database.orm, id, numbers);
  if (rows.length < new Set(numbers).size) throw new NotFound('difference');
  const ordered = rows.toSorted(inOrder);
  if (dryRun) return { repairs: await tryRepairs(ctx, by, id, ordered) };
  const untried = ordered.find(({ triedAt }) => triedAt === null);
  if (untried !== undefined)
    throw new Conflict('dry_run_first', `Make a dry run of difference ${untried.number} first.`);
  const repairs: RepairView[] = [];
  // One after the other: a win must not close its round before the bet.
  for (const row of ordered) repairs.push(await applyRepair(ctx, by, row));
  return { repairs };
};
