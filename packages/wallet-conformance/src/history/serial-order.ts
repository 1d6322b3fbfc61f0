import type { Call } from './call.ts';
import { roundOf, type Earlier } from './earlier.ts';
import { fate, roundState, carryOut, type Declared, type State, type Step } from './model.ts';

/** What is known before the first call of a history. */
export interface Opening {
  /** Minor units. */
  balance: number;
  earlier: Earlier;
  declared: Declared;
}

/** Numbers the different texts. */
const indexesOf = (texts: readonly (string | undefined)[]): Map<string, number> =>
  new Map([...new Set(texts)].flatMap((text) => text ?? []).map((text, index) => [text, index]));

/**
 * The calls that can matter, by the time of their answer; those without an answer last. A read without an answer says
 * nothing. Of calls without an answer that are copies the first is enough: it may take effect whenever another may.
 */
const sortCalls = (calls: readonly Call[]): Call[] => {
  const unanswered = calls
    .filter(({ answered, operation }) => answered === null && operation !== 'balance')
    .toSorted((a, b) => a.sent - b.sent);
  const firsts = Map.groupBy(unanswered, ({ transaction }) => transaction).values();
  return [
    ...calls
      .filter(({ answered }) => answered !== null)
      .toSorted((a, b) => (a.answered ?? 0) - (b.answered ?? 0)),
    ...[...firsts].flatMap(([first]) => first ?? []),
  ];
};

/** The calls of a history as steps of the model, and the state that it opens with. */
export const prepare = (
  calls: readonly Call[],
  { balance, earlier }: Opening,
): { steps: Step[]; state: State } => {
  const sorted = sortCalls(calls);
  const own = new Map(sorted.map((call) => [call.transaction, call]));
  const transactions = indexesOf(sorted.flatMap(({ transaction, reverses }) => [transaction, reverses]));
  const rounds = indexesOf(sorted.map(roundOf));
  const steps = sorted.map((call): Step => {
    const { transaction = '', reverses = '' } = call;
    const reversed = own.get(reverses) ?? earlier.transactions.get(reverses)?.call;
    return {
      call,
      transaction: transactions.get(transaction) ?? -1,
      reverses: transactions.get(reverses) ?? -1,
      round: rounds.get(roundOf(call)) ?? -1,
      stake: reversed?.amount ?? 0,
      reversesNoDebit: reversed !== undefined && reversed.operation !== 'debit',
      earlierAnswers: earlier.transactions.get(transaction)?.answers ?? [],
    };
  });
  const fates = [...transactions.keys()].map((id) => earlier.transactions.get(id)?.fate ?? fate.none);
  const state: State = {
    balance,
    fates: Uint8Array.from(fates),
    answers: new Float64Array(fates.length).fill(Number.NaN),
    rounds: Uint8Array.from(rounds.keys(), (round) => earlier.rounds.get(round) ?? roundState.unseen),
  };
  return { steps, state };
};

/** Answered calls of one history; a set of them is a number with a bit for each. */
const maxAnswered = 30;
/** What is left to a search; a correct history of 30 calls needs some dozens of steps. */
export interface Budget {
  steps: number;
}

/** The search takes too long, or there are too many calls. Histories with fewer calls at the same time are decided. */
export class Undecided extends Error {
  override name = 'Undecided';
}

interface Search {
  /** By the time of their answer; those without an answer last. */
  steps: Step[];
  answered: number;
  state: State;
  declared: Declared;
  /** Calls that are left, and the state: from here no order leads to the end. */
  hopeless: Set<string>;
  budget: Budget;
}

/** All that the rest of the search depends on. Calls without an answer that took effect are visible in the fates. */
const keyOf = ({ steps, answered, state }: Search, left: number): string => {
  const { balance, fates, answers, rounds } = state;
  let key = `${left} ${balance} ${fates.join('')} ${rounds.join('')}`;
  for (let at = 0; at < answered; at++) {
    const index = steps[at]?.transaction ?? -1;
    if ((left & (1 << at)) !== 0 && index >= 0 && fates[index] !== fate.none) key += ` ${answers[index]}`;
  }
  return key;
};

/** Whether a call changed anything; the balance and the round change only with a fate. */
const hasChanged = ({ fates }: State, { transaction, reverses }: Step, own: number, other: number): boolean =>
  (transaction >= 0 && fates[transaction] !== own) || (reverses >= 0 && fates[reverses] !== other);

/** Tries a call as the next one; restores the state if no order follows. `settled`: no other call has to be tried. */
const follow = (
  search: Search,
  step: Step,
  left: number,
): { order: Call[] | undefined; settled: boolean } => {
  const { state, declared } = search;
  const { transaction, reverses, round, call } = step;
  const { balance } = state;
  const [own, other] = [state.fates[transaction] ?? 0, state.fates[reverses] ?? 0];
  const roundBefore = state.rounds[round] ?? 0;
  const answer = state.answers[transaction] ?? 0;
  let order: Call[] | undefined;
  let settled = false;
  if (carryOut(state, step, declared)) {
    const changed = hasChanged(state, step, own, other);
    // A right answer that changes nothing can as well come now as later.
    settled = !changed && call.answered !== null;
    if (changed || settled) order = orderFrom(search, left);
    if (order !== undefined) return { order: [call, ...order], settled: true };
  }
  state.balance = balance;
  state.rounds[round] = roundBefore;
  if (transaction >= 0) {
    state.fates[transaction] = own;
    state.answers[transaction] = answer;
  }
  if (reverses >= 0) state.fates[reverses] = other;
  return { order, settled };
};

/** The calls that are left (a bit each) in an order that explains their answers; undefined when there is none. */
const orderFrom = (search: Search, left: number): Call[] | undefined => {
  if (left === 0) return [];
  const { steps, hopeless, budget } = search;
  if (budget.steps-- <= 0) throw new Undecided('there is no decision within the bounded number of steps');
  const key = keyOf(search, left);
  if (hopeless.has(key)) return undefined;
  // Whatever was sent after the earliest answer that is left comes after it.
  const deadline = steps[31 - Math.clz32(left & -left)]?.call.answered ?? Infinity;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at];
    if (step === undefined || step.call.sent > deadline) continue;
    const isAnswered = step.call.answered !== null;
    if (isAnswered && (left & (1 << at)) === 0) continue;
    const { order, settled } = follow(search, step, isAnswered ? left & ~(1 << at) : left);
    if (order !== undefined) return order;
    if (settled) break;
  }
  hopeless.add(key);
  return undefined;
};

/**
 * Looks for a serial order of the calls of one history that is consistent with real time (a call that was answered
 * before another was sent comes first) and explains every answer; that is, whether the history is linearizable
 * (Herlihy and Wing, 1990). A call without an answer may have taken effect at any later time, or never.
 * @param opening what is known before the first call
 * @param budget of steps, which the search takes from it
 * @returns the calls in such an order, without those that need not have arrived; undefined when there is none
 * @throws Undecided when the budget is used up, or when more than 30 calls were answered
 */
export const serialOrder = (
  calls: readonly Call[],
  opening: Opening,
  budget: Budget = { steps: Infinity },
): Call[] | undefined => {
  const { steps, state } = prepare(calls, opening);
  const answered = steps.filter(({ call }) => call.answered !== null).length;
  if (answered > maxAnswered)
    throw new Undecided(`a history has at most ${maxAnswered} answered calls, this one ${answered}`);
  const { declared } = opening;
  const search: Search = { steps, answered, state, declared, hopeless: new Set(), budget };
  return orderFrom(search, 2 ** answered - 1);
};
