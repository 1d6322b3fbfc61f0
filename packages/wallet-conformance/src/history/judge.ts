import type { Call } from './call.ts';
import { ok, type Declared } from './model.ts';
import { serialOrder, Undecided, type Budget, type Opening } from './serial-order.ts';
import { createEarlier, closeHistory, historiesOf, inOrder, type Earlier } from './earlier.ts';

const unanswered = (call: Call): Call => ({ ...call, answered: null, status: null, balance: null });

/**
 * The smallest part of a history without a serial order: answers are forgotten one after the other as long as the rest
 * still contradict each other. A call whose answer is forgotten may have taken effect at any time, or never, so what
 * is left contradicts itself whatever became of the others. When the budget is used up, the rest is not tried.
 */
export const minimal = (calls: readonly Call[], opening: Opening, budget: Budget): Call[] => {
  let known = [...calls];
  try {
    for (const call of calls) {
      const fewer = known.map((one) => (one === call ? unanswered(one) : one));
      if (serialOrder(fewer, opening, budget) === undefined) known = fewer;
    }
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
  }
  return known.filter(({ answered }) => answered !== null);
};

/** A history whose answers cannot all be right. */
export interface Violation {
  player: string;
  history: number;
  /** Balance before the first call, in minor units. */
  opening: number;
  /** All calls of the history. */
  calls: Call[];
  /** What it names of earlier histories: the first call of each transaction. */
  earlier: Call[];
  /** Calls whose answers contradict each other: as few as could be found before the budget was used up. */
  contradiction: Call[];
}

export interface Verdict {
  calls: number;
  histories: number;
  /** Histories that cannot be judged, and why. */
  unusable: string[];
  violations: Violation[];
  /** Steps of all searches. */
  steps: number;
}

/** The balance that a history opens with: a read that was answered before anything else was sent. */
const openingOf = ([first, second]: readonly Call[]): number | undefined =>
  first?.operation === 'balance' &&
  first.status === ok &&
  (first.answered ?? Infinity) <= (second?.sent ?? Infinity)
    ? (first.balance ?? undefined)
    : undefined;

/** Steps of the search for an order: of one history (a right one takes some dozens, after a crash some thousands), and of all together. */
const stepsOfHistory = 100_000;
const stepsOfAll = (calls: number): number => 500_000 + 200 * calls;
/** Steps of the searches for the fewest answers, of all histories together. */
const stepsOfContradictions = 400_000;

interface Budgets {
  all: Budget;
  contradictions: Budget;
}

/** The transactions of earlier histories that a history names. */
const earlierCalls = (calls: readonly Call[], { transactions }: Earlier): Call[] => {
  const ids = new Set(calls.flatMap(({ transaction = '', reverses = '' }) => [transaction, reverses]));
  return [...ids].flatMap((id) => transactions.get(id)?.call ?? []);
};

/** What comes before a history; `previous` is the read that closed the one before, or why it stays open. */
interface Context {
  earlier: Earlier;
  declared: Declared;
  previous: Call | string | undefined;
}

/** Judges one history, in order. Returns why it cannot be judged. */
const judgeHistory = (
  calls: Call[],
  { earlier, declared, previous }: Context,
  { all, contradictions }: Budgets,
  onViolation: (violation: Omit<Violation, 'player' | 'history'>) => void,
): string | undefined => {
  if (typeof previous === 'string') return 'an earlier one stays open';
  const [first] = calls;
  const balance = openingOf(calls);
  if (balance === undefined || first === undefined) return 'it does not open with a balance';
  if (previous !== undefined && previous.balance !== balance)
    onViolation({
      opening: previous.balance ?? 0,
      calls: [previous, first],
      earlier: [],
      contradiction: [first],
    });
  const budget: Budget = { steps: Math.min(stepsOfHistory, all.steps) };
  const before = budget.steps;
  const opening = { balance, earlier, declared };
  try {
    if (serialOrder(calls, opening, budget) === undefined)
      onViolation({
        opening: balance,
        calls,
        earlier: earlierCalls(calls, earlier),
        contradiction: minimal(calls, opening, contradictions),
      });
  } catch (error) {
    if (error instanceof Undecided) return error.message;
    throw error;
  } finally {
    all.steps -= before - Math.max(0, budget.steps);
  }
  return undefined;
};

/**
 * Decides for each history whether some serial order of its calls, consistent with real time, explains all answers,
 * and whether each history opens with the balance that the player's previous one ended with. A history whose outcome
 * stays open, because a call was never answered clearly, is named in `unusable` unless its answers contradict each
 * other; so are all later ones of its player. The searches are bounded, so that a recording made for it cannot keep them
 * busy: what is not decided then is named there, too.
 */
export const judge = (calls: readonly Call[], declared: Declared = { noLimits: false }): Verdict => {
  const verdict: Verdict = { calls: 0, histories: 0, unusable: [], violations: [], steps: 0 };
  const allSteps = stepsOfAll(calls.length);
  const budgets = { all: { steps: allSteps }, contradictions: { steps: stepsOfContradictions } };
  for (const [player, histories] of historiesOf(calls)) {
    const earlier = createEarlier();
    let previous: Call | string | undefined;
    for (const [history, unordered] of histories) {
      const ordered = inOrder(unordered);
      verdict.calls += unordered.length;
      verdict.histories++;
      const before = verdict.violations.length;
      const context = { earlier, declared, previous };
      const undecided = judgeHistory(ordered, context, budgets, (violation) =>
        verdict.violations.push({ player, history, ...violation }),
      );
      if (typeof previous !== 'string') previous = closeHistory(earlier, ordered);
      const reason = undecided ?? (typeof previous === 'string' ? previous : undefined);
      if (reason !== undefined && verdict.violations.length === before)
        verdict.unusable.push(`${player}, history ${history}: ${reason}`);
    }
  }
  const { all, contradictions } = budgets;
  verdict.steps = allSteps - all.steps + stepsOfContradictions - Math.max(0, contradictions.steps);
  return verdict;
};
