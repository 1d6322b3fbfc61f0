import type { Call } from './call.ts';
import { roundOf, type EarlierState } from './earlier-state.ts';
import { transactionState, roundState, simulateCall, type Declared, type State, type Step } from './model.ts';

/** The state before the first call of a history. */
export interface Opening {
  /** Minor units. */
  balance: number;
  earlier: EarlierState;
  declared: Declared;
}

/** Assigns an index to each distinct text. */
const indexesOf = (texts: readonly (string | undefined)[]): Map<string, number> =>
  new Map([...new Set(texts)].flatMap((text) => text ?? []).map((text, index) => [text, index]));

/**
 * The relevant calls, ordered by the time of their answer; unanswered calls come last. Omits unanswered reads, which say
 * nothing, and all but the first of several unanswered copies: the first may take effect whenever a later one may.
 */
const sortCalls = (calls: readonly Call[]): Call[] => {
  const moves = calls.filter(({ answered, operation }) => answered === null && operation !== 'balance');
  const firstCopies = new Map(moves.toReversed().map((call) => [call.transaction, call]));
  return calls
    .filter((call) => call.answered !== null || firstCopies.get(call.transaction) === call)
    .toSorted((a, b) => (a.answered ?? Number.MAX_VALUE) - (b.answered ?? Number.MAX_VALUE));
};

/** Converts the calls of a history to steps of the model, and creates the opening state. */
const createSteps = (
  calls: readonly Call[],
  { balance, earlier }: Opening,
): { steps: Step[]; state: State } => {
  const sorted = sortCalls(calls);
  const callOf = new Map(sorted.map((call) => [call.transaction, call]));
  const transactionIndexes = indexesOf(
    sorted.flatMap(({ transaction, reverses }) => [transaction, reverses]),
  );
  const roundIndexes = indexesOf(sorted.map(roundOf));
  const steps = sorted.map((call): Step => {
    const { transaction = '', reverses = '' } = call;
    const reversed = callOf.get(reverses) ?? earlier.transactions.get(reverses)?.call;
    return {
      call,
      transaction: transactionIndexes.get(transaction) ?? -1,
      reverses: transactionIndexes.get(reverses) ?? -1,
      round: roundIndexes.get(roundOf(call)) ?? -1,
      stake: reversed?.amount ?? 0,
      reversesNoDebit: reversed !== undefined && reversed.operation !== 'debit',
      earlierAnswers: earlier.transactions.get(transaction)?.answers ?? [],
    };
  });
  const transactions = Uint8Array.from(
    transactionIndexes.keys(),
    (id) => earlier.transactions.get(id)?.state ?? transactionState.none,
  );
  const state: State = {
    balance,
    transactions,
    answers: new Float64Array(transactions.length).fill(Number.NaN),
    rounds: Uint8Array.from(roundIndexes.keys(), (round) => earlier.rounds.get(round) ?? roundState.unseen),
  };
  return { steps, state };
};

/** Maximum of answered calls in a history, because a set of them is a number with a bit per call. */
const maxAnswered = 30;
/** The remaining steps of a search; a correct history of 30 calls needs some dozens. */
export interface Budget {
  steps: number;
}

/** The search took too many steps, or the history has too many calls. */
export class Undecided extends Error {
  override name = 'Undecided';
}

interface Search {
  /** Ordered by the time of the answer; unanswered calls come last. */
  steps: Step[];
  /** Number of answered calls. */
  answered: number;
  state: State;
  declared: Declared;
  /** Keys (`keyOf`) of the remaining calls and the state from which no order explains the remaining answers. */
  deadEnds: Set<string>;
  budget: Budget;
}

/** Everything on which the remaining search depends; the transaction states show which unanswered calls took effect. */
const keyOf = ({ steps, answered, state }: Search, remaining: number): string => {
  const { balance, transactions, answers, rounds } = state;
  let key = `${remaining} ${balance} ${transactions.join('')} ${rounds.join('')}`;
  for (const [index, { transaction }] of steps.slice(0, answered).entries()) {
    const isRemaining = (remaining & (1 << index)) !== 0;
    if (isRemaining && transaction >= 0 && transactions[transaction] !== transactionState.none)
      key += ` ${answers[transaction]}`;
  }
  return key;
};

/** `no order`: whichever call is the next one; `try another`: another call may be the next one. */
type Attempt = 'order found' | 'no order' | 'try another';

/** Tries a call as the next one. Restores the state unless an order was found. */
const tryNext = (search: Search, step: Step, remaining: number): Attempt => {
  const { state, declared } = search;
  const { transaction, reverses, round, call } = step;
  const { balance } = state;
  const transactionBefore = state.transactions[transaction] ?? 0;
  const reversedBefore = state.transactions[reverses] ?? 0;
  const roundBefore = state.rounds[round] ?? 0;
  const answerBefore = state.answers[transaction] ?? 0;
  let isAlwaysNext = false;
  if (simulateCall(state, step, declared)) {
    // The balance and the round change only together with the state of a transaction.
    const isChanged =
      (transaction >= 0 && state.transactions[transaction] !== transactionBefore) ||
      (reverses >= 0 && state.transactions[reverses] !== reversedBefore);
    // A call with a correct answer that changes nothing can be the next one without loss of generality.
    isAlwaysNext = !isChanged && call.answered !== null;
    if ((isChanged || isAlwaysNext) && hasOrder(search, remaining)) return 'order found';
  }
  state.balance = balance;
  state.rounds[round] = roundBefore;
  if (transaction >= 0) {
    state.transactions[transaction] = transactionBefore;
    state.answers[transaction] = answerBefore;
  }
  if (reverses >= 0) state.transactions[reverses] = reversedBefore;
  return isAlwaysNext ? 'no order' : 'try another';
};

/** Whether some order of the remaining calls (a bit each) explains their answers. */
const hasOrder = (search: Search, remaining: number): boolean => {
  if (remaining === 0) return true;
  const { steps, deadEnds, budget } = search;
  if (budget.steps-- <= 0) throw new Undecided('the search exceeded the maximum number of steps');
  const key = keyOf(search, remaining);
  if (deadEnds.has(key)) return false;
  // A call that was sent after the earliest remaining answer cannot be the next one.
  const deadline = steps[31 - Math.clz32(remaining & -remaining)]?.call.answered ?? Infinity;
  for (const [index, step] of steps.entries()) {
    if (step.call.sent > deadline) continue;
    const isAnswered = step.call.answered !== null;
    if (isAnswered && (remaining & (1 << index)) === 0) continue;
    const result = tryNext(search, step, isAnswered ? remaining & ~(1 << index) : remaining);
    if (result === 'order found') return true;
    if (result === 'no order') break;
  }
  deadEnds.add(key);
  return false;
};

/**
 * Whether there is a serial order of the calls of one history that is consistent with real time (a call that was answered
 * before another was sent comes first) and explains every answer; that is, whether the history is linearizable (Herlihy and
 * Wing, 1990). An unanswered call may take effect at any time after it was sent, or never.
 * @param calls ordered by the time they were sent
 * @param opening the state before the first call
 * @param budget the number of steps; the search decrements it
 * @throws Undecided when the budget is used up, or when more than 30 calls were answered
 */
export const hasSerialOrder = (
  calls: readonly Call[],
  opening: Opening,
  budget: Budget = { steps: Infinity },
): boolean => {
  const { steps, state } = createSteps(calls, opening);
  const answered = steps.filter(({ call }) => call.answered !== null).length;
  if (answered > maxAnswered)
    throw new Undecided(`the history has ${answered} answered calls; at most ${maxAnswered} can be judged`);
  const { declared } = opening;
  const search: Search = { steps, answered, state, declared, deadEnds: new Set(), budget };
  return hasOrder(search, 2 ** answered - 1);
};
