import type { Call } from './call.ts';
import { carryOut, fate, type State, type Step } from './model.ts';

/** Calls of one history; a set of them is a number with a bit for each. */
const maxCalls = 30;
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
  amounts: Float64Array;
  state: State;
  /** Calls that are left, and the state: from here no order leads to the end. */
  hopeless: Set<string>;
  budget: Budget;
}

const prepare = (calls: readonly Call[], start: number, budget: Budget): Search => {
  const indexes = new Map<string, number>();
  const indexOf = (id: string | undefined): number => {
    if (id === undefined) return -1;
    const index = indexes.get(id) ?? indexes.size;
    indexes.set(id, index);
    return index;
  };
  const steps = calls
    // A read without an answer says nothing.
    .filter(({ operation, answered }) => operation !== 'balance' || answered !== null)
    .toSorted((a, b) => (a.answered ?? Infinity) - (b.answered ?? Infinity))
    .map((call) => ({ call, transaction: indexOf(call.transaction), reverses: indexOf(call.reverses) }));
  const { size } = indexes;
  const amounts = new Float64Array(size);
  for (const { call, transaction } of steps)
    if (call.amount !== undefined) amounts[transaction] = call.amount;
  const state = { balance: start, fates: new Uint8Array(size), answers: new Float64Array(size) };
  return { steps, amounts, state, hopeless: new Set(), budget };
};

/** All that the rest of the search depends on. Calls without an answer that took effect are visible in the fates. */
const keyOf = ({ steps, state: { balance, fates, answers } }: Search, left: number): string => {
  let key = `${left} ${balance} ${fates.join('')}`;
  for (let at = 0; at < steps.length; at++) {
    const index = steps[at]?.transaction ?? -1;
    if ((left & (1 << at)) !== 0 && index >= 0 && fates[index] !== fate.none) key += ` ${answers[index]}`;
  }
  return key;
};

const answeredMask = (steps: readonly Step[]): number =>
  steps.reduce((mask, { call }, at) => (call.answered === null ? mask : mask | (1 << at)), 0);

/** Whether a call changed anything but the balance, which changes with a fate. */
const hasChanged = ({ fates }: State, { transaction, reverses }: Step, own: number, other: number): boolean =>
  (transaction >= 0 && fates[transaction] !== own) || (reverses >= 0 && fates[reverses] !== other);

/** Tries a call as the next one; restores the state if no order follows. `settled`: no other call has to be tried. */
const follow = (
  search: Search,
  step: Step,
  left: number,
): { order: Call[] | undefined; settled: boolean } => {
  const { state, amounts } = search;
  const { transaction, reverses, call } = step;
  const { balance } = state;
  const [own, other] = [state.fates[transaction] ?? 0, state.fates[reverses] ?? 0];
  const answer = state.answers[transaction] ?? 0;
  let order: Call[] | undefined;
  let settled = false;
  if (carryOut(state, step, amounts)) {
    const changed = hasChanged(state, step, own, other);
    // A right answer that changes nothing can as well come now as later.
    settled = !changed && call.answered !== null;
    if (changed || settled) order = orderFrom(search, left);
    if (order !== undefined) return { order: [call, ...order], settled: true };
  }
  state.balance = balance;
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
 * @param start the balance before the first call, in minor units
 * @param budget of steps, which the search takes from it
 * @returns the calls in such an order, without those that need not have arrived; undefined when there is none
 * @throws Undecided when the budget is used up, or when there are more than 30 calls
 */
export const serialOrder = (
  calls: readonly Call[],
  start: number,
  budget: Budget = { steps: Infinity },
): Call[] | undefined => {
  if (calls.length > maxCalls)
    throw new Undecided(`a history has at most ${maxCalls} calls, this one ${calls.length}`);
  const search = prepare(calls, start, budget);
  return orderFrom(search, answeredMask(search.steps));
};
