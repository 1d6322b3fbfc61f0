import { Conflict } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { recordEvent } from '../reporting/audit/use-cases.ts';
import type { RepairResult } from './difference.ts';
import { listDifferences, type DifferenceRow } from './difference-queries.ts';
import {
  findDryRun,
  insertDryRun,
  markApplying,
  markApproved,
  markDecided,
  movedLately,
  type Attempt,
  type DryRunRow,
  type StoredDryRun,
} from './dry-run-queries.ts';
import { planRepairs, receivedForAnother, type Plan, type Repair } from './planning.ts';
import { receivedForOthers } from './round-queries.ts';
import type { ApplyRequest, DryRun, Repairs } from './schema.ts';
import { reconciliationRow } from './use-cases.ts';

/** Whether the repair would move money that has not moved yet. */
const isPending = ({ status, state }: RepairResult): boolean => status === 'OK' && state !== 'applied';

/** What pending repairs move, in minor units, by a key of each. */
const sumsBy = (repairs: readonly RepairResult[], keyOf: (repair: RepairResult) => string) =>
  [...Map.groupBy(repairs.filter(isPending), keyOf)].map(([key, same]) => ({
    key,
    same,
    sum: same.reduce((total, { amount }) => total + minorUnits(amount ?? '0'), 0),
  }));

const viewOf = (row: DryRunRow): z.input<typeof DryRun> => ({
  dryRunId: row.dryRunId,
  createdAt: row.createdAt.toISOString(),
  createdBy: row.createdBy,
  approvedAt: row.approvedAt?.toISOString() ?? null,
  approvedBy: row.approvedBy,
  sums: sumsBy(row.repairs, ({ kind, operation, currency }) => `${kind} ${operation} ${currency}`).map(
    ({ same, sum }) => ({
      kind: same[0]?.kind ?? 'missing_here',
      operation: same[0]?.operation ?? 'debit',
      currency: same[0]?.currency ?? null,
      repairs: same.length,
      amount: decimal(sum),
    }),
  ),
  repairs: row.repairs,
});

/** Throws NotFound, and Conflict `failed` or `comparing` while differences may be wrong. */
const expectCompared = async (ctx: Context, id: string): Promise<void> => {
  const { step, failure } = await reconciliationRow(ctx, id);
  if (failure !== null)
    throw new Conflict('failed', 'The reconciliation failed, so its differences may be wrong.');
  if (step !== 'removing' && step !== 'ended')
    throw new Conflict('comparing', 'The statement is still being compared; try again later.');
};

/** Throws NotFound. */
const dryRunRow = async ({ database }: Context, id: string, dryRunId: string): Promise<StoredDryRun> =>
  orNotFound(await findDryRun(database.orm, id, dryRunId), 'dry run');

/** What the ledger would decide about repairs; only what it says here can be applied. Throws the errors of `planRepairs`. */
export const makeDryRun = async (
  ctx: Context,
  by: string,
  id: string,
  numbers: readonly number[],
): Promise<z.input<typeof DryRun>> => {
  await expectCompared(ctx, id);
  const repairs = await (await planRepairs(ctx, id, numbers)).preview();
  return ctx.database.orm.transaction(async (tx) => {
    const view = viewOf(await insertDryRun(tx, { reconciliationId: id, createdBy: by, repairs }));
    const { dryRunId, sums } = view;
    const details = { by, reconciliationId: id, dryRunId, differences: numbers.length, sums };
    await recordEvent(tx, { kind: 'reconciliation_dry_run', playerId: null, details });
    return view;
  });
};

/** Throws NotFound. */
export const getDryRun = async (ctx: Context, id: string, dryRunId: string) =>
  viewOf(await dryRunRow(ctx, id, dryRunId));

/**
 * Approves a dry run that moves more than the limit, for somebody else to apply it; the first approval counts, for 24
 * hours. Throws NotFound, and Conflict `own_dry_run` and `nothing_to_apply`.
 */
export const approveDryRun = async (
  ctx: Context,
  by: string,
  id: string,
  dryRunId: string,
): Promise<z.input<typeof DryRun>> => {
  const row = await dryRunRow(ctx, id, dryRunId);
  if (row.createdBy === by)
    throw new Conflict('own_dry_run', 'You made this dry run, so another person must approve it.');
  const numbers = row.repairs.filter(isPending).map(({ number }) => number);
  const rows = await listDifferences(ctx.database.orm, id, { numbers });
  if (rows.every(({ state }) => state === 'applied'))
    throw new Conflict('nothing_to_apply', 'The dry run has no repairs left to apply.');
  return ctx.database.orm.transaction(async (tx) => {
    const approved = await markApproved(tx, row, by);
    // Somebody else's approval holds.
    if (approved === undefined) return viewOf((await findDryRun(tx, id, dryRunId)) ?? row);
    const view = viewOf(approved);
    const details = { by, reconciliationId: id, dryRunId, sums: view.sums };
    await recordEvent(tx, { kind: 'reconciliation_dry_run_approved', playerId: null, details });
    return view;
  });
};

/** Throws Conflict `dry_run_outdated` when the ledger would not decide as it did in the dry run. */
const expectUnchanged = (
  { dryRunId, repairs }: DryRunRow,
  rows: readonly DifferenceRow[],
  forecast: readonly RepairResult[],
): void => {
  // Another dry run may have had the same repairs; when all are applied, this is a repetition.
  const isRepetition = !forecast.some(isPending);
  const changed = forecast.find(({ state, status, reason }, at) => {
    const before = repairs[at];
    if (state === 'applied' && isRepetition && before?.status === 'OK') return false;
    if (state === 'applied') return before?.state !== 'applied' && rows[at]?.dryRunId !== dryRunId;
    return before?.status !== status || before.reason !== reason;
  });
  if (changed !== undefined)
    throw new Conflict(
      'dry_run_outdated',
      `Difference ${changed.number} changed after the dry run; make another one.`,
    );
};

/**
 * Marks the repairs that are made now, and returns them. Throws Conflict `approval_needed` when together with those of
 * the last 24 hours they move more of a currency than is allowed, and no second person has approved the dry run,
 * `above_max_amount` when it is more than the request allows, and `dry_run_outdated` when somebody else applied one of them meanwhile.
 */
const reserve = (
  { database, env }: Context,
  by: string,
  dryRun: StoredDryRun,
  forecast: readonly RepairResult[],
  maxAmount: string | undefined,
): Promise<Map<number, Attempt>> =>
  database.orm.transaction(async (tx) => {
    const { reconciliationId, dryRunId, approvedBy } = dryRun;
    const pending = forecast.filter(isPending);
    const amounts = new Map(pending.map(({ number, amount }) => [number, minorUnits(amount ?? '0')]));
    const moved = await movedLately(tx, reconciliationId, [...amounts.keys()]);
    const allowed = env.RECONCILIATION_MAX_AMOUNT;
    for (const { key, sum } of sumsBy(pending, ({ currency }) => currency ?? '')) {
      const before = moved.get(key) ?? 0n;
      const total = BigInt(sum) + before;
      const moves = `The repairs move ${decimal(sum)} ${key}, and others of the last 24 hours ${decimal(before)}; more than`;
      if (sum > 0 && maxAmount !== undefined && total > BigInt(minorUnits(maxAmount)))
        throw new Conflict('above_max_amount', `${moves} the ${maxAmount} of this request.`);
      const isApproved = dryRun.isApproved && approvedBy !== by;
      if (sum > 0 && total > BigInt(allowed) && !isApproved)
        throw new Conflict(
          'approval_needed',
          `${moves} ${decimal(allowed)} needs the approval of dry run ${dryRunId} by another person.`,
        );
    }
    if (amounts.size === 0) return new Map();
    const attempts = await markApplying(tx, dryRun, amounts, by);
    if (attempts.length < amounts.size)
      throw new Conflict(
        'dry_run_outdated',
        'Somebody else applied some of the repairs; make another dry run.',
      );
    const details = { by, approvedBy, reconciliationId, dryRunId, differences: amounts.size };
    await recordEvent(tx, { kind: 'reconciliation_repair_requested', playerId: null, details });
    return new Map(attempts.map((attempt) => [attempt.number, attempt]));
  });

/** Makes one repair that is marked, unless its transaction arrived meanwhile for another player. */
const applyRepair = async (
  { database: { orm, sql }, ledger }: Context,
  plan: Plan,
  attempt: Attempt,
  command: Repair,
  waitsFor: string | undefined,
): Promise<RepairResult> => {
  const { reconciliationId, number, repair, repairedBy: by } = attempt;
  const isReceived = (await receivedForOthers(sql, reconciliationId, [number])).has(number);
  const reasonToWait = isReceived ? receivedForAnother : waitsFor;
  const outcome =
    reasonToWait === undefined ? await ledger.add(command) : { status: null, reason: reasonToWait };
  const { playerId, isRepair: _isRepair, ...asked } = command;
  const { status, reason } = outcome;
  const decided = await orm.transaction(async (tx) => {
    const details = { by, reconciliationId, number, repair, ...asked, status, reason };
    await recordEvent(tx, { kind: 'reconciliation_repair_decided', playerId, details });
    return markDecided(tx, attempt, outcome);
  });
  if (decided !== undefined)
    return plan.viewOf(decided, command, 'balance' in outcome ? outcome.balance : undefined, decided.amount);
  // Somebody else repairs it at the same time.
  const [now = attempt] = await listDifferences(orm, reconciliationId, { numbers: [number] });
  return plan.viewOf(now, command, undefined, now.amount);
};

/**
 * Applies what a dry run said, through the ledger and by its normal rules; a repetition changes nothing. Throws
 * NotFound, Conflict `failed` or `comparing`, and the errors of `expectUnchanged` and `reserve`: then nothing was applied.
 */
export const applyDryRun = async (
  ctx: Context,
  by: string,
  id: string,
  { dryRunId, maxAmount }: z.output<typeof ApplyRequest>,
): Promise<z.input<typeof Repairs>> => {
  await expectCompared(ctx, id);
  const dryRun = await dryRunRow(ctx, id, dryRunId);
  const numbers = dryRun.repairs.map(({ number }) => number);
  const plan = await planRepairs(ctx, id, numbers);
  const forecast = await plan.preview();
  expectUnchanged(dryRun, plan.rows, forecast);
  const attempts = await reserve(ctx, by, dryRun, forecast, maxAmount);
  const forecastOf = new Map(forecast.map((view) => [view.number, view]));
  const repairs = await plan.walk((row, command, waitsFor) => {
    const attempt = attempts.get(row.number);
    return attempt === undefined
      ? (forecastOf.get(row.number) ?? plan.viewOf(row))
      : applyRepair(ctx, plan, attempt, command, waitsFor);
  });
  return { repairs };
};
