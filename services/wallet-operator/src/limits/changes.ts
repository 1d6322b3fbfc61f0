import { kinds, moneyPeriods, type Kind, type Period } from './domain.ts';

/** Rules for changing limits. The player and the operator each set one limit for each kind and period. */

export interface LimitKind {
  kind: Kind;
  period: Period;
}

/** A stored change that is not cancelled. */
export interface Change extends LimitKind {
  changeId: string;
  /** Null: the limit ends. */
  value: bigint | null;
  effectiveAt: Date;
}

export interface Wanted extends LimitKind {
  value: bigint;
}

export interface Plan {
  /** Ids of pending changes to cancel. */
  cancelled: string[];
  added: (LimitKind & { value: bigint | null; effectiveAt: Date })[];
}

const raiseDelayMs = 24 * 3_600_000;

/** Every limit that can be set. */
export const limitKinds: LimitKind[] = kinds.flatMap((kind): LimitKind[] =>
  kind === 'session' ? [{ kind, period: 'session' }] : moneyPeriods.map((period) => ({ kind, period })),
);

const isOf =
  ({ kind, period }: LimitKind) =>
  (other: LimitKind): boolean =>
    other.kind === kind && other.period === period;

/** The limits in force at `now`: for each kind and period the newest effective change. `changes` are sorted, oldest first. */
export const inForce = (changes: readonly Change[], now: Date): Change[] =>
  limitKinds
    .map((limitKind) => changes.findLast((change) => isOf(limitKind)(change) && change.effectiveAt <= now))
    .filter((change) => change !== undefined && change.value !== null) as Change[];

export const pending = <C extends Change>(changes: readonly C[], now: Date): C[] =>
  changes.filter(({ effectiveAt }) => effectiveAt > now);

/**
 * Plans the changes that make `wanted` the complete set of one setter's limits. A new or lower limit is in force at once. A
 * higher one, and the end of a limit, wait for 24 hours; the limit in force as `wanted` cancels them.
 */
export const planChanges = (changes: readonly Change[], wanted: readonly Wanted[], now: Date): Plan => {
  const plan: Plan = { cancelled: [], added: [] };
  const later = new Date(now.getTime() + raiseDelayMs);
  for (const limitKind of limitKinds) {
    const current = inForce(changes, now).find(isOf(limitKind))?.value ?? null;
    const next = pending(changes, now).find(isOf(limitKind));
    const value = wanted.find(isOf(limitKind))?.value ?? null;
    if (next !== undefined && next.value === value) continue;
    if (next !== undefined) plan.cancelled.push(next.changeId);
    if (value === current) continue;
    const isStricter = value !== null && (current === null || value < current);
    plan.added.push({ ...limitKind, value, effectiveAt: isStricter ? now : later });
  }
  return plan;
};
