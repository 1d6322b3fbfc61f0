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
  movedLately,
  receivedForOthers,
  type StoredDryRun,
} from './repair-queries.ts';
import type { ApplyRequest, DryRun, DryRunPath } from './schema.ts';
import { getReconciliation } from './use-cases.ts';

type Path = z.output<typeof DryRunPath>;

/** Whether the repair would move money that has not moved yet. */
const isPending = ({ status, state }: RepairResult): boolean => status === 'OK' && state !== 'applied';

/** What pending repairs move, in minor units, by a key of each. */
const sumsBy = (repairs: readonly RepairResult[], keyOf: (repair: RepairResult) => string) =>
  [...Map.groupBy(repairs.filter(isPending), keyOf)].map(([key, same]) => ({
    key,
    same,
    sum: same.reduce((total, { amount }) => total + minorUnits(amount ?? '0'), 0),
  }));

const viewOf = ({ isApproved: _isApproved, ...dryRun }: StoredDryRun): z.input<typeof DryRun> => ({
  ...dryRun,
  sums: sumsBy(dryRun.repairs, ({ kind, operation, currency }) => `${kind} ${operation} ${currency}`).map(
    ({ same, sum }) => ({
      kind: same[0]?.kind ?? 'missing_here',
      operation: same[0]?.operation ?? 'debit',
      currency: same[0]?.currency ?? null,
      repairs: same.length,
      amount: decimal(sum),
    }),
  ),
});

/** Throws NotFound, and Conflict `failed` or `comparing` while differences may be wrong. */
const expectCompared = async (ctx: Context, id: string): Promise<void> => {
  const { status } = await getReconciliation(ctx, id);
  if (status === 'failed')
    throw new Conflict('failed', 'The reconciliation failed, so its differences may be wrong.');
  if (status !== 'done')
    throw new Conflict('comparing', 'The statement is still being compared; try again later.');
};

/** What the ledger would decide about repairs; only what it says here can be applied. Throws the errors of `planRepairs`. */
export const makeDryRun = async (ctx: Context, by: string, id: string, numbers: readonly number[]) => {
  await expectCompared(ctx, id);
  const { forecast } = await planRepairs(ctx, id, numbers);
  return ctx.database.sql.begin(async (tx) => {
    const view = viewOf(await insertDryRun(tx, by, id, forecast));
    const { dryRunId, sums } = view;
    const details = { by, reconciliationId: id, dryRunId, differences: numbers.length, sums };
    await recordEvent(tx, 'reconciliation_dry_run', details);
    return view;
  });
};

/** Throws NotFound. */
export const getDryRun = async ({ database }: Context, path: Path) =>
  viewOf(orNotFound(await findDryRun(database.sql, path), 'dry run'));

/**
 * Approves a dry run that moves more than the limit, for somebody else to apply it; the first approval counts, for 24
 * hours. Throws NotFound, and Conflict `own_dry_run` and `nothing_to_apply`.
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
    // Somebody else's approval holds.
    if (dryRun.isApproved) return viewOf(dryRun);
    const approved = viewOf(await markApproved(tx, path, by));
    await recordEvent(tx, 'reconciliation_dry_run_approved', { by, ...path, sums: approved.sums });
    return approved;
  });

/** Throws Conflict `dry_run_outdated` when the ledger would not decide as it did in the dry run. */
const expectUnchanged = ({ dryRunId, repairs }: StoredDryRun, { rows, forecast }: Plan): void => {
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
  path: Path,
  { approvedBy, ...dryRun }: StoredDryRun,
  forecast: readonly RepairResult[],
  maxAmount: string | undefined,
): Promise<readonly Attempt[]> =>
  database.sql.begin(async (tx): Promise<readonly Attempt[]> => {
    const pending = forecast.filter(isPending);
    const amounts = new Map(pending.map(({ number, amount }) => [number, minorUnits(amount ?? '0')]));
    const moved = await movedLately(tx, path.reconciliationId, [...amounts.keys()]);
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
          `${moves} ${decimal(allowed)} needs the approval of dry run ${path.dryRunId} by another person.`,
        );
    }
    if (amounts.size === 0) return [];
    const attempts = await markApplying(tx, path, amounts, by);
    if (attempts.length < amounts.size)
      throw new Conflict(
        'dry_run_outdated',
        'Somebody else applied some of the repairs; make another dry run.',
      );
    const details = { by, approvedBy, ...path, differences: amounts.size };
    await recordEvent(tx, 'reconciliation_repair_requested', details);
    return attempts;
  });

/** Makes one repair that is marked, unless its transaction arrived meanwhile for another player. */
const applyRepair = async (
  { database: { sql }, ledger }: Context,
  reconciliationId: string,
  plan: Plan,
  attempt: Attempt,
  command: Repair,
  waitsFor: string | undefined,
): Promise<RepairResult> => {
  const { number, repair, repairedBy: by, moved } = attempt;
  const isReceived = (await receivedForOthers(sql, reconciliationId, [number])).has(number);
  const reasonToWait = isReceived ? receivedForAnother : waitsFor;
  // A null status: the ledger was not asked.
  const { status, reason, balance } =
    reasonToWait === undefined
      ? await ledger.add(command)
      : { status: null, reason: reasonToWait, balance: undefined };
  const { playerId, isRepair: _isRepair, ...asked } = command;
  const decided = await sql.begin(async (tx) => {
    const amount = 'amount' in command ? decimal(command.amount) : undefined;
    const details = { by, reconciliationId, number, repair, ...asked, amount, status, reason };
    await recordEvent(tx, 'reconciliation_repair_decided', details, playerId);
    return markDecided(tx, reconciliationId, attempt, status, reason ?? null);
  });
  if (decided !== undefined) return plan.viewOf(decided, command, balance, moved);
  // Somebody else repairs it at the same time.
  const [now = attempt] = await findDifferences(sql, reconciliationId, [number]);
  return plan.viewOf(now, command, undefined, moved);
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
  const repairs = await plan.walk((row, command, waitsFor) => {
    const attempt = attemptOf.get(row.number);
    return attempt === undefined
      ? (forecastOf.get(row.number) ?? plan.viewOf(row))
      : applyRepair(ctx, id, plan, attempt, command, waitsFor);
  });
  return { repairs };
};
