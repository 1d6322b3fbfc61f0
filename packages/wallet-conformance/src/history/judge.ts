import type { Call } from './call.ts';
import { minimal } from './minimal.ts';
import { serialOrder, Undecided, type Budget } from './serial-order.ts';

/** A history whose answers cannot all be right. */
export interface Violation {
  player: string;
  history: number;
  /** Balance before the first call, in minor units. */
  opening: number;
  /** All calls of the history. */
  calls: Call[];
  /** The calls whose answers contradict each other; without any one of them there would be no contradiction. */
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

const hasMeaning = ({ operation, status }: Call): boolean => operation !== 'balance' || status !== null;
const bySent = (a: Call, b: Call): number => a.sent - b.sent;

/** The balance that a history opens with: a read that was answered before anything else was sent. */
const openingOf = ([first, second]: readonly Call[]): number | undefined =>
  first?.operation === 'balance' &&
  first.status === 'OK' &&
  (first.answered ?? Infinity) <= (second?.sent ?? Infinity)
    ? (first.balance ?? undefined)
    : undefined;

/** The balance that a history ends with, if nothing of it can take effect later. */
const closingOf = (calls: readonly Call[]): Call | undefined => {
  const answered = new Set(
    calls.flatMap(({ transaction, status }) => (status === null ? [] : [transaction])),
  );
  const isOpen = calls.some(
    ({ transaction, operation }) => operation !== 'balance' && !answered.has(transaction),
  );
  const last = calls.at(-1);
  const isLast =
    last?.operation === 'balance' &&
    calls.every((call) => call === last || (call.answered ?? 0) <= last.sent);
  return isOpen || !isLast || last.status !== 'OK' ? undefined : last;
};

const groupOf = (calls: Iterable<Call>): Map<string, Map<number, Call[]>> => {
  const players = new Map<string, Map<number, Call[]>>();
  for (const call of calls) {
    let histories = players.get(call.player);
    if (histories === undefined) players.set(call.player, (histories = new Map()));
    const history = histories.get(call.history);
    if (history === undefined) histories.set(call.history, [call]);
    else history.push(call);
  }
  return players;
};

/** Steps of the search for an order: of one history (those of simulated faults took 1,000 at most), and of all together. */
const stepsOfHistory = 20_000;
const stepsOfAll = (calls: number): number => 100_000 + 200 * calls;
/** Steps of the searches for the fewest answers, of all histories together. */
const stepsOfContradictions = 400_000;

/**
 * Decides for each history whether some serial order of its calls, consistent with real time, explains all answers,
 * and whether each history opens with the balance that the player's previous one ended with. The searches are bounded, so
 * that a recording made for it cannot keep them busy: what is not decided then is named in `unusable`.
 */
export const judge = (calls: readonly Call[]): Verdict => {
  const verdict: Verdict = { calls: 0, histories: 0, unusable: [], violations: [], steps: 0 };
  const all: Budget = { steps: stepsOfAll(calls.length) };
  const contradictions: Budget = { steps: stepsOfContradictions };
  for (const [player, histories] of groupOf(calls)) {
    let closing: Call | undefined;
    for (const [history, unsorted] of [...histories].toSorted(([a], [b]) => a - b)) {
      // A read without an answer has no effect and no result.
      const sorted = unsorted.filter(hasMeaning).toSorted(bySent);
      verdict.calls += unsorted.length;
      verdict.histories++;
      const opening = openingOf(sorted);
      if (opening === undefined) {
        closing = undefined;
        verdict.unusable.push(`${player}, history ${history}: it does not open with a balance`);
        continue;
      }
      const [first] = sorted;
      if (closing !== undefined && first !== undefined && closing.balance !== opening)
        verdict.violations.push({
          player,
          history,
          opening: closing.balance ?? 0,
          calls: [closing, first],
          contradiction: [first],
        });
      const steps = Math.min(stepsOfHistory, all.steps);
      const budget: Budget = { steps };
      try {
        if (serialOrder(sorted, opening, budget) === undefined) {
          const contradiction = minimal(sorted, opening, contradictions);
          verdict.violations.push({ player, history, opening, calls: sorted, contradiction });
        }
      } catch (error) {
        if (!(error instanceof Undecided)) throw error;
        verdict.unusable.push(`${player}, history ${history}: ${error.message}`);
      }
      all.steps -= steps - Math.max(0, budget.steps);
      closing = closingOf(sorted);
    }
  }
  verdict.steps =
    stepsOfAll(calls.length) - all.steps + stepsOfContradictions - Math.max(0, contradictions.steps);
  return verdict;
};
