import { Conflict } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { recordEvent } from '../reporting/audit.ts';
import type { RepairResult } from './difference.ts';
import { planRepairs, receivedForAnother, type Plan, type Repair } from './planning.ts';
import {
  type Attempt,
  findDifferences,
  findDryRun,
  insertDryRun,
  markApplying,
  markApproved,
  markDecided,
  movedInLastDay,
  receivedForOthers,
  type StoredDryRun,
} from './repair-queries.ts';
import type { ApplyRequest, DryRun, DryRunPath } from './schema.ts';
import { getReconciliation } from './use-cases.ts';

type Path = z.output<typeof DryRunPath>;

/** Whether the repair can be applied, and was not yet. */
const isPending = ({ status, state }: RepairResult): boolean => status === 'OK' && state !== 'applied';

/** The total amount of repairs, in minor units. */
const totalOf = (repairs: readonly RepairResult[]): number =>
  repairs.reduce((total, { amount }) => total + minorUnits(amount ?? '0'), 0);

const dryRunView = ({ isApproved: _isApproved, ...dryRun }: StoredDryRun): z.input<typeof DryRun> => {
  const groups = Map.groupBy(
    dryRun.repairs.filter(isPending),
    ({ kind, operation, currency }) => `${kind} ${operation} ${currency}`,
  );
  const sums = [...groups.values()].map((repairs) => ({
    kind: repairs[0]?.kind ?? 'missing_here',
    operation: repairs[0]?.operation ?? 'debit',
    currency: repairs[0]?.currency ?? null,
    repairs: repairs.length,
    amount: decimal(totalOf(repairs)),
  }));
  return { ...dryRun, sums };
};

/** Throws NotFound, and Conflict `failed` or `comparing` unless the comparison is complete. */
const expectCompared = async (ctx: Context, id: string): Promise<void> => {
  const { status } = await getReconciliation(ctx, id);
  if (status === 'failed')
    throw new Conflict('failed', 'The reconciliation failed, so its differences may be wrong.');
  if (status !== 'done')
    throw new Conflict('comparing', 'The statement is still being compared; try again later.');
};

/** Stores what the ledger would decide about repairs. Only a dry run can be applied. Throws the errors of `planRepairs`. */
export const makeDryRun = async (ctx: Context, by: string, id: string, numbers: readonly number[]) => {
  await expectCompared(ctx, id);
  const { forecast } = await planRepairs(ctx, id, numbers);
  return ctx.database.sql.begin(async (tx) => {
    const view = dryRunView(await insertDryRun(tx, by, id, forecast));
    const { dryRunId, sums } = view;
    const details = { by, reconciliationId: id, dryRunId, differences: numbers.length, sums };
    await recordEvent(tx, 'reconciliation_dry_run', details);
    return view;
  });
};

/** Throws NotFound. */
export const getDryRun = async ({ database }: Context, path: Path) =>
  dryRunView(orNotFound(await findDryRun(database.sql, path), 'dry run'));

/**
 * Approves a dry run, so that another person may apply it above the limit. An approval is valid for 24 hours; repeating it
 * does not extend it. Throws NotFound, and Conflict `own_dry_run` and `nothing_to_apply`.
 */
export const approveDryRun = (
  { database: { sql } }: Context,
  by: string,
  { reconciliationId, dryRunId }: Path,
) =>
  sql.begin(async (tx) => {
    const path = { reconciliationId, dryRunId };
    const dryRun = orNotFound(await findDryRun(tx, path, true), 'dry run');
    if (dryRun.createdBy === by)
      throw new Conflict('own_dry_run', 'You made this dry run, so another person must approve it.');
    const numbers = dryRun.repairs.filter(isPending).map(({ number }) => number);
    const rows = await findDifferences(tx, reconciliationId, numbers);
    if (rows.every(({ state }) => state === 'applied'))
      throw new Conflict('nothing_to_apply', 'The dry run has no repairs left to apply.');
    if (dryRun.isApproved) return dryRunView(dryRun);
    const approved = dryRunView(await markApproved(tx, path, by));
    await recordEvent(tx, 'reconciliation_dry_run_approved', { by, ...path, sums: approved.sums });
    return approved;
  });

/** Throws Conflict `dry_run_outdated` when the ledger would now decide differently than in the dry run. */
const expectUnchanged = ({ dryRunId, repairs }: StoredDryRun, { rows, forecast }: Plan): void => {
  // When nothing is pending, the request is a repetition, even if the repairs were applied by another dry run.
  const isRepetition = !forecast.some(isPending);
  const changed = forecast.find(({ state, status, reason }, index) => {
    const before = repairs[index];
    if (state !== 'applied') return before?.status !== status || before.reason !== reason;
    if (isRepetition && before?.status === 'OK') return false;
    return before?.state !== 'applied' && rows[index]?.dryRunId !== dryRunId;
  });
  if (changed !== undefined)
    throw new Conflict(
      'dry_run_outdated',
      `Difference ${changed.number} changed after the dry run; make another one.`,
    );
};

/**
 * Marks the pending repairs and returns them. Compares what they move, together with other repairs of the last 24 hours, in
 * each currency with the limits. Throws Conflict `approval_needed` above the configured limit, unless another person has
 * approved the dry run; `above_max_amount` above the limit of the request; and `dry_run_outdated` when another request has
 * applied one of them meanwhile.
 */
const reserve = (
  { database, env }: Context,
  by: string,
  path: Path,
  { approvedBy, ...dryRun }: StoredDryRun,
  forecast: readonly RepairResult[],
  maxAmount: string | undefined,
): Promise<readonly Attempt[]> =>
  database.sql.begin(async (tx): Promise<readonly Attempt[]> => {
    const pending = forecast.filter(isPending);
    const amounts = new Map(pending.map(({ number, amount }) => [number, minorUnits(amount ?? '0')]));
    const moved = await movedInLastDay(tx, path.reconciliationId, [...amounts.keys()]);
    const limit = env.RECONCILIATION_MAX_AMOUNT;
    const isApproved = dryRun.isApproved && approvedBy !== by;
    for (const [currency, repairs] of Map.groupBy(pending, (repair) => repair.currency ?? '')) {
      const sum = totalOf(repairs);
      // Repairs that move no money are within any limit.
      if (sum === 0) continue;
      const before = moved.get(currency) ?? 0n;
      const total = BigInt(sum) + before;
      const facts = `The repairs move ${decimal(sum)} ${currency}, and others of the last 24 hours ${decimal(before)}`;
      if (maxAmount !== undefined && total > BigInt(minorUnits(maxAmount)))
        throw new Conflict('above_max_amount', `${facts}, more than \`maxAmount\` (${maxAmount}).`);
      if (total > BigInt(limit) && !isApproved)
        throw new Conflict(
          'approval_needed',
          `${facts}. For more than ${decimal(limit)} another person must approve dry run ${path.dryRunId}.`,
        );
    }
    if (amounts.size === 0) return [];
    const attempts = await markApplying(tx, path, amounts, by);
    if (attempts.length < amounts.size)
      throw new Conflict(
        'dry_run_outdated',
        'Another request has applied some of the repairs; make another dry run.',
      );
    const details = { by, approvedBy, ...path, differences: amounts.size };
    await recordEvent(tx, 'reconciliation_repair_requested', details);
    return attempts;
  });

/** Sends a marked repair to the ledger, unless it must wait or its transaction has arrived for another player meanwhile. */
const applyRepair = async (
  { database: { sql }, ledger }: Context,
  reconciliationId: string,
  plan: Plan,
  attempt: Attempt,
  command: Repair,
  reasonToWait: string | undefined,
): Promise<RepairResult> => {
  const { number, repair, repairedBy: by, moved } = attempt;
  const isReceived = (await receivedForOthers(sql, reconciliationId, [number])).has(number);
  const reasonNotToApply = isReceived ? receivedForAnother : reasonToWait;
  // The status is null when the ledger was not asked.
  const { status, reason, balance } =
    reasonNotToApply === undefined
      ? await ledger.add(command)
      : { status: null, reason: reasonNotToApply, balance: undefined };
  const { playerId, isRepair: _isRepair, ...commandFields } = command;
  const decided = await sql.begin(async (tx) => {
    const amount = 'amount' in command ? decimal(command.amount) : undefined;
    const details = { by, reconciliationId, number, repair, ...commandFields, amount, status, reason };
    await recordEvent(tx, 'reconciliation_repair_decided', details, playerId);
    return markDecided(tx, reconciliationId, attempt, status, reason ?? null);
  });
  if (decided !== undefined) return plan.viewOf(decided, command, balance, moved);
  // Another attempt is in progress, so its state is the result.
  const [current = attempt] = await findDifferences(sql, reconciliationId, [number]);
  return plan.viewOf(current, command, undefined, moved);
};

/**
 * Applies a dry run by the normal rules of the ledger; a repetition changes nothing. Throws NotFound, Conflict `failed` or
 * `comparing`, and the errors of `expectUnchanged` and `reserve`; then nothing was applied.
 */
export const applyDryRun = async (
  ctx: Context,
  by: string,
  id: string,
  { dryRunId, maxAmount }: z.output<typeof ApplyRequest>,
) => {
  await expectCompared(ctx, id);
  const path = { reconciliationId: id, dryRunId };
  const dryRun = orNotFound(await findDryRun(ctx.database.sql, path), 'dry run');
  const numbers = dryRun.repairs.map(({ number }) => number);
  const plan = await planRepairs(ctx, id, numbers);
  expectUnchanged(dryRun, plan);
  const attempts = await reserve(ctx, by, path, dryRun, plan.forecast, maxAmount);
  const attemptOf = new Map(attempts.map((attempt) => [attempt.number, attempt]));
  const forecastOf = new Map(plan.forecast.map((result) => [result.number, result]));
  const repairs = await plan.decideInOrder((row, command, reasonToWait) => {
    const attempt = attemptOf.get(row.number);
    if (attempt !== undefined) return applyRepair(ctx, id, plan, attempt, command, reasonToWait);
    return forecastOf.get(row.number) ?? plan.viewOf(row);
  });
  return { repairs };
};
