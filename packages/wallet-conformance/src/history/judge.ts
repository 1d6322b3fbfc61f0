import type { Call } from './call.ts';
import { ok, type Declared } from './model.ts';
import { hasSerialOrder, Undecided, type Budget, type Opening } from './serial-order.ts';
import {
  createEarlierState,
  closeHistory,
  historiesOf,
  orderBySentTime,
  type EarlierState,
} from './earlier-state.ts';

const withoutAnswer = (call: Call): Call => ({ ...call, answered: null, status: null, balance: null });

/**
 * Finds a minimal set of contradicting answers in a history without a serial order: drops one answer after the other, and
 * keeps it dropped if the remaining answers still contradict each other. A call without an answer may take effect at any
 * time, or never, so the contradiction does not depend on the dropped answers. Stops when the budget is used up; the result
 * is then larger than necessary.
 */
export const minimalContradiction = (calls: readonly Call[], opening: Opening, budget: Budget): Call[] => {
  let contradiction = [...calls];
  try {
    for (const dropped of calls) {
      const fewer = contradiction.map((call) => (call === dropped ? withoutAnswer(call) : call));
      if (!hasSerialOrder(fewer, opening, budget)) contradiction = fewer;
    }
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
  }
  return contradiction.filter(({ answered }) => answered !== null);
};

/** A history whose answers cannot all be correct. */
export interface Violation {
  player: string;
  history: number;
  /** Balance before the first call, in minor units. */
  opening: number;
  /** All calls of the history. */
  calls: Call[];
  /** The transactions of earlier histories that it names: the first call of each. */
  earlier: Call[];
  /** Calls whose answers contradict each other; minimal unless the budget was used up. */
  contradiction: Call[];
}

export interface Verdict {
  calls: number;
  histories: number;
  /** Histories that cannot be judged, each with the reason. */
  notJudged: string[];
  violations: Violation[];
  /** Steps of all searches. */
  steps: number;
}

/** The opening balance of a history: a read that was answered before any other call was sent. */
const openingOf = ([first, second]: readonly Call[]): number | undefined =>
  first?.operation === 'balance' &&
  first.status === ok &&
  (first.answered ?? Infinity) <= (second?.sent ?? Infinity)
    ? (first.balance ?? undefined)
    : undefined;

/** Maximum steps of the search for an order in one history. A correct one takes dozens, after a crash thousands. */
const maxStepsPerHistory = 100_000;
/** Maximum steps of these searches in all histories together. */
const maxStepsOfAll = (calls: number): number => 500_000 + 200 * calls;
/** Maximum steps of the searches for minimal contradictions, in all histories together. */
const maxStepsOfContradictions = 400_000;

interface Budgets {
  all: Budget;
  contradictions: Budget;
}

/** The first call of each transaction of earlier histories that a history names. */
const earlierCalls = (calls: readonly Call[], { transactions }: EarlierState): Call[] => {
  const ids = new Set(calls.flatMap(({ transaction = '', reverses = '' }) => [transaction, reverses]));
  return [...ids].flatMap((id) => transactions.get(id)?.call ?? []);
};

/** The state before a history. `previous` is the closing read of the previous history, or why its outcome is unknown. */
interface Context {
  earlier: EarlierState;
  declared: Declared;
  previous: Call | string | undefined;
}

/** Judges one history, whose calls are ordered by time. Returns the reason when it cannot be judged. */
const judgeHistory = (
  calls: Call[],
  { earlier, declared, previous }: Context,
  { all, contradictions }: Budgets,
  onViolation: (violation: Omit<Violation, 'player' | 'history'>) => void,
): string | undefined => {
  if (typeof previous === 'string') return 'the outcome of an earlier history is unknown';
  const [first] = calls;
  const balance = openingOf(calls);
  if (balance === undefined || first === undefined) return 'it has no opening balance';
  if (previous !== undefined && previous.balance !== balance)
    onViolation({
      opening: previous.balance ?? 0,
      calls: [previous, first],
      earlier: [],
      contradiction: [first],
    });
  const budget: Budget = { steps: Math.min(maxStepsPerHistory, all.steps) };
  const stepsBefore = budget.steps;
  const opening = { balance, earlier, declared };
  try {
    if (!hasSerialOrder(calls, opening, budget))
      onViolation({
        opening: balance,
        calls,
        earlier: earlierCalls(calls, earlier),
        contradiction: minimalContradiction(calls, opening, contradictions),
      });
  } catch (error) {
    if (error instanceof Undecided) return error.message;
    throw error;
  } finally {
    all.steps -= stepsBefore - Math.max(0, budget.steps);
  }
  return undefined;
};

/**
 * Decides for each history whether some serial order of its calls, consistent with real time, explains all answers, and
 * whether its opening balance is the closing balance of the player's previous history. When the outcome of a history is
 * unknown, because a call was never answered clearly, the history and all later ones of the player are listed in
 * `notJudged`, unless their answers contradict each other. The searches are limited, so that a hostile recording cannot
 * keep the checker busy: a history that exceeds the limit is listed in `notJudged`, too.
 */
export const judge = (calls: readonly Call[], declared: Declared = { noLimits: false }): Verdict => {
  const verdict: Verdict = { calls: 0, histories: 0, notJudged: [], violations: [], steps: 0 };
  const allSteps = maxStepsOfAll(calls.length);
  const budgets = { all: { steps: allSteps }, contradictions: { steps: maxStepsOfContradictions } };
  for (const [player, histories] of historiesOf(calls)) {
    const earlier = createEarlierState();
    let previous: Call | string | undefined;
    for (const [history, unordered] of histories) {
      const ordered = orderBySentTime(unordered);
      verdict.calls += unordered.length;
      verdict.histories++;
      const violationsBefore = verdict.violations.length;
      const context = { earlier, declared, previous };
      const undecided = judgeHistory(ordered, context, budgets, (violation) =>
        verdict.violations.push({ player, history, ...violation }),
      );
      if (typeof previous !== 'string') previous = closeHistory(earlier, ordered);
      const reason = undecided ?? (typeof previous === 'string' ? previous : undefined);
      if (reason !== undefined && verdict.violations.length === violationsBefore)
        verdict.notJudged.push(`${player}, history ${history}: ${reason}`);
    }
  }
  const stepsOfContradictions = maxStepsOfContradictions - Math.max(0, budgets.contradictions.steps);
  verdict.steps = allSteps - budgets.all.steps + stepsOfContradictions;
  return verdict;
};
