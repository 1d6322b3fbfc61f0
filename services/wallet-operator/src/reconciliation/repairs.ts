import { Conflict, NotFound } from '@platform/service-kit/problem';
import type { z } from 'zod';
import { recordEvent } from '../reporting/audit/use-cases.ts';
import type { Context } from '../context.ts';
import type { Credit, Debit, Rollback } from '../ledger/command.ts';
import { decimal } from '@platform/wallet-protocol/money';
import {
  debitsNamed,
  differencesByNumber,
  markApplying,
  markDecided,
  markTried,
  missingInRounds,
  type DifferenceRow,
} from './difference-queries.ts';
import type { RepairRequest, Repairs } from './schema.ts';
import { reconciliationRow } from './use-cases.ts';

type RepairView = z.input<typeof Repairs>['repairs'][number];
type Repair = Debit | Credit | Rollback;

/** The command that repairs a difference; undefined when the contract has none. The same one each time, so it is applied once. */
const commandOf = (difference: DifferenceRow): Repair | undefined => {
  const { repair, reconciliationId, number, transactionId, there, here } = difference;
  const side = repair === 'close_round' ? here : there;
  if (repair === 'ask_game_server' || !side?.roundId || !side.gameCode) return undefined;
  const { playerId, roundId, gameCode } = side;
  const common = { playerId, roundId, gameCode, isRepair: true } as const;
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

type Placed = Pick<DifferenceRow, 'number' | 'there'>;

/**
 * As they happened at the game server. At the same time, or where it says none, what ends the round comes last, and
 * debits come before credits before rollbacks.
 */
const inOrder = (a: Placed, b: Placed): number =>
  Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01') ||
  Number(a.there?.roundClosed ?? false) - Number(b.there?.roundClosed ?? false) ||
  order.indexOf(a.there?.operation ?? '') - order.indexOf(b.there?.operation ?? '') ||
  a.number - b.number;

const viewOf = ({ number, repair, state, status, reason }: DifferenceRow, balance?: string): RepairView => ({
  number,
  repair,
  state,
  status,
  reason,
  balance: balance === undefined ? null : decimal(balance),
});

const applyRepair = async (
  { database: { orm }, ledger }: Context,
  by: string,
  row: DifferenceRow,
  command: Repair,
): Promise<RepairView> => {
  const { reconciliationId, number, repair } = row;
  const { playerId, isRepair: _isRepair, ...asked } = command;
  const details = { by, reconciliationId, number, repair, ...asked };
  const attempt = await orm.transaction(async (tx) => {
    await recordEvent(tx, { kind: 'reconciliation_repair_requested', playerId, details });
    return markApplying(tx, row, command.transactionId, by);
  });
  if (attempt !== undefined) {
    const outcome = await ledger.add(command);
    const { status, reason, balance } = outcome;
    const decided = await orm.transaction(async (tx) => {
      const result = { ...details, status, reason };
      await recordEvent(tx, { kind: 'reconciliation_repair_decided', playerId, details: result });
      return markDecided(tx, attempt, outcome);
    });
    if (decided !== undefined) return viewOf(decided, balance);
  }
  // Somebody else repairs it at the same time.
  const [now = row] = await differencesByNumber(orm, reconciliationId, [number]);
  return viewOf(now);
};

/** What the ledger would decide. Nothing is written to it, and no player is locked. */
const previewRepairs = async (
  { ledger, database }: Context,
  commands: readonly Repair[],
): Promise<(row: DifferenceRow, command: Repair) => RepairView> => {
  const preview = await ledger.preview(database.sql, commands);
  return (row, command) => {
    const { status, reason = null, balance } = preview(command);
    return viewOf({ ...row, status, reason }, balance);
  };
};

/** The round that a repair changes: of a rollback that of its debit, which may be another than the one that it names. */
const roundsOf = async (
  orm: Context['database']['orm'],
  commands: readonly Repair[],
): Promise<(command: Repair) => string> => {
  const rollbacks = commands.filter((command) => command.operation === 'rollback');
  const debits = rollbacks.length === 0 ? [] : await debitsNamed(orm, rollbacks);
  return (command) =>
    (command.operation === 'rollback' &&
      debits.find(
        ({ playerId, transactionId }) => playerId === command.playerId && transactionId === command.reverses,
      )?.roundId) ||
    command.roundId;
};

/**
 * Repairs differences through the ledger, by its normal rules; a repeated repair changes nothing. A credit or rollback
 * is not repaired (reason `earlier_first`) while an earlier transaction of its round is missing: it may close the round,
 * and then its bet could never be taken. Throws NotFound, and Conflict `failed` when the reconciliation failed,
 * `comparing` before the comparison has ended and `dry_run_first` for a difference without a dry run.
 */
export const repairDifferences = async (
  ctx: Context,
  by: string,
  id: string,
  { dryRun, differences: numbers }: z.output<typeof RepairRequest>,
): Promise<z.input<typeof Repairs>> => {
  const { orm } = ctx.database;
  const { step, failure } = await reconciliationRow(ctx, id);
  if (failure !== null)
    throw new Conflict('failed', 'The reconciliation failed, so its differences may be wrong.');
  if (step !== 'removing' && step !== 'ended')
    throw new Conflict('comparing', 'The statement is still compared; try again later.');
  const rows = (await differencesByNumber(orm, id, numbers)).toSorted(inOrder);
  if (rows.length < new Set(numbers).size) throw new NotFound('difference');
  const untried = dryRun ? undefined : rows.find(({ triedAt }) => triedAt === null);
  if (untried !== undefined)
    throw new Conflict('dry_run_first', `Make a dry run of difference ${untried.number} first.`);

  const commandsOf = new Map(rows.map((row) => [row, row.state === 'applied' ? undefined : commandOf(row)]));
  const commands = [...commandsOf.values()].filter((command) => command !== undefined);
  const roundOf = await roundsOf(orm, commands);
  const missing = await missingInRounds(
    orm,
    id,
    commands.map((command) => ({ playerId: command.playerId, roundId: roundOf(command) })),
  );
  const repaired = new Set<number>();
  const waitsForEarlier = (row: DifferenceRow, command: Repair): boolean =>
    command.operation !== 'debit' &&
    missing.some(
      (other) =>
        !repaired.has(other.number) &&
        other.playerId === command.playerId &&
        other.there?.roundId === roundOf(command) &&
        inOrder(other, row) < 0,
    );
  const repair = dryRun
    ? await previewRepairs(ctx, commands)
    : (row: DifferenceRow, command: Repair) => applyRepair(ctx, by, row, command);
  const repairs: RepairView[] = [];
  for (const [row, command] of commandsOf) {
    if (command === undefined) repairs.push(viewOf(row));
    else if (waitsForEarlier(row, command))
      repairs.push(viewOf({ ...row, status: null, reason: 'earlier_first' }));
    else {
      const result = await repair(row, command);
      if (result.status === 'OK') repaired.add(row.number);
      repairs.push(result);
    }
  }
  if (dryRun)
    // Only now: a dry run without a result allows nothing.
    await orm.transaction(async (tx) => {
      const differences = rows.map(({ number }) => number);
      const details = { by, reconciliationId: id, differences };
      await recordEvent(tx, { kind: 'reconciliation_dry_run', playerId: null, details });
      await markTried(tx, id, differences);
    });
  return { repairs };
};
