import type { Call } from './call.ts';

/** The state of a transaction. */
export const transactionState = { none: 0, applied: 1, reversed: 2, tombstoned: 3 } as const;

/** The state of a round; `unseen` before its first debit or credit. */
export const roundState = { unseen: 0, open: 1, closed: 2 } as const;

/** A call whose transactions and round are indexes into `State`. */
export interface Step {
  call: Call;
  /** −1: none. */
  transaction: number;
  reverses: number;
  round: number;
  /** For a rollback: the amount of its debit, which is refunded if the debit is applied. */
  stake: number;
  /** For a rollback: whether it names a credit or a rollback instead of a debit. */
  reversesNoDebit: boolean;
  /** Balances in the answers to this transaction in earlier histories. */
  earlierAnswers: readonly number[];
}

/** The part of a player's wallet that one history uses. */
export interface State {
  balance: number;
  /** The `transactionState` of each transaction. */
  transactions: Uint8Array;
  /** The balance after each transaction when it was applied; NaN if it was not. */
  answers: Float64Array;
  /** The `roundState` of each round. */
  rounds: Uint8Array;
}

/** Facts about the player that the user of the program declares. */
export interface Declared {
  /** The player has no limits. Otherwise any bet may be refused, because the model does not contain limits. */
  noLimits: boolean;
}

export const ok = 'OK';
const noMoney = 'ERROR_NOT_ENOUGH_MONEY';
const unknownTransaction = 'ERROR_TRANSACTION_DOES_NOT_EXIST';
/** Callers treat these statuses as success, so they are not refusals. */
const treatedAsOk = new Set([ok, 'ERROR_DUPLICATE_TRANSACTION', unknownTransaction]);
/** The refusals of a bet beyond a limit of the player. */
const limitStatuses = new Set([noMoney, 'ERROR_PLAYER_DISABLED', 'ERROR_UNKNOWN']);

const isUnanswered = ({ status }: Call): boolean => status === null;
const isRefused = ({ status }: Call): boolean => status !== null && !treatedAsOk.has(status);
const movedNothing = (call: Call): boolean => isUnanswered(call) || isRefused(call);

/** Whether a call is unanswered, or was answered OK with this balance. */
const matchesBalance = ({ status, balance }: Call, expected: number): boolean =>
  status === null || (status === ok && balance === expected);

/** Whether the answer to a repeated call is correct: it has the balance of an earlier answer, or the current balance. */
const isCorrectRepeat = (
  { answers, balance }: State,
  { call, transaction, earlierAnswers }: Step,
): boolean => {
  const stored = answers[transaction] ?? Number.NaN;
  // The transaction was applied in an earlier history, but its answer never arrived: any balance is accepted.
  if (Number.isNaN(stored) && earlierAnswers.length === 0) return call.status === null || call.status === ok;
  return [stored, balance, ...earlierAnswers].some((expected) => matchesBalance(call, expected));
};

/** Applies a call that changes the balance by `by`. Returns whether its answer has the new balance. */
const applyCall = (state: State, { call, transaction, round }: Step, by: number): boolean => {
  state.balance += by;
  state.transactions[transaction] = transactionState.applied;
  state.answers[transaction] = state.balance;
  if (call.closes) state.rounds[round] = roundState.closed;
  else if (call.operation !== 'rollback' && state.rounds[round] === roundState.unseen)
    state.rounds[round] = roundState.open;
  return matchesBalance(call, state.balance);
};

/** Whether the state, or a limit of the player, explains why a bet in an open round was refused. */
const isExplained = (
  { status, balance, amount = 0 }: Call,
  state: State,
  { noLimits }: Declared,
): boolean => {
  if (balance !== null && balance !== state.balance) return false;
  if (status === noMoney && state.balance < amount) return true;
  return !noLimits && limitStatuses.has(status ?? '');
};

const debit = (state: State, step: Step, declared: Declared): boolean => {
  const { call, transaction, round } = step;
  const { amount = 0 } = call;
  if (state.transactions[transaction] === transactionState.applied) return isCorrectRepeat(state, step);
  if (state.transactions[transaction] === transactionState.reversed)
    return isCorrectRepeat(state, step) || isRefused(call);
  if (state.rounds[round] === roundState.closed) return movedNothing(call);
  if (isRefused(call)) return isExplained(call, state, declared);
  if (state.balance < amount) return isUnanswered(call);
  return applyCall(state, step, -amount);
};

const credit = (state: State, step: Step): boolean => {
  const { call, transaction, round } = step;
  if (state.transactions[transaction] === transactionState.applied) return isCorrectRepeat(state, step);
  if (state.rounds[round] === roundState.closed) return movedNothing(call);
  // Operators that refuse wins in rounds without a bet answer with this status.
  if (call.status === unknownTransaction) return state.rounds[round] === roundState.unseen;
  if (isRefused(call)) return false;
  return applyCall(state, step, call.amount ?? 0);
};

const rollback = (state: State, step: Step): boolean => {
  const { call, transaction, reverses, round, stake, reversesNoDebit } = step;
  if (state.transactions[transaction] === transactionState.applied) return isCorrectRepeat(state, step);
  const isApplied = state.transactions[reverses] === transactionState.applied;
  if (isApplied && reversesNoDebit) return isUnanswered(call) || call.status === unknownTransaction;
  // Operators may refuse to reverse a debit of a closed round.
  if (isRefused(call)) return isApplied && state.rounds[round] === roundState.closed;
  if (isApplied) state.transactions[reverses] = transactionState.reversed;
  else if (state.transactions[reverses] === transactionState.none)
    state.transactions[reverses] = transactionState.tombstoned;
  return applyCall(state, step, isApplied ? stake : 0);
};

/**
 * Simulates a call on the state and returns whether its answer is correct. If it is not, the state must not be used any
 * more. The rules are those of docs/wallet-operator.md; where operators may differ, every usual answer counts as correct.
 */
export const simulateCall = (state: State, step: Step, declared: Declared): boolean => {
  const { call, transaction } = step;
  if (call.operation === 'balance') return matchesBalance(call, state.balance);
  // A rollback of this transaction arrived before the transaction.
  if (state.transactions[transaction] === transactionState.tombstoned) return movedNothing(call);
  if (call.operation === 'debit') return debit(state, step, declared);
  return call.operation === 'credit' ? credit(state, step) : rollback(state, step);
};
