import type { Call } from './call.ts';

/** The state of a transaction. */
export const fate = { none: 0, applied: 1, reversed: 2, tombstoned: 3 } as const;

/** The state of a round; `unseen` before its first bet. */
export const roundState = { unseen: 0, open: 1, closed: 2 } as const;

/** A call with its transactions and round as indexes into the state, and what earlier histories say about them. */
export interface Step {
  call: Call;
  /** −1: none. */
  transaction: number;
  reverses: number;
  round: number;
  /** Of a rollback: what it gives back when its debit stands. */
  stake: number;
  /** Of a rollback: whether it names a credit or a rollback. */
  reversesNoDebit: boolean;
  /** Balances with which the transaction was answered in earlier histories. */
  earlierAnswers: readonly number[];
}

/** The wallet of one player, as far as one history touches it. */
export interface State {
  balance: number;
  fates: Uint8Array;
  /** Balance with which each transaction was answered when it was applied. */
  answers: Float64Array;
  rounds: Uint8Array;
}

/** What is known about the player. */
export interface Declared {
  /** No bet of the player is refused for a limit. Otherwise any may be, because limits are not in the model. */
  noLimits: boolean;
}

export const ok = 'OK';
const noMoney = 'ERROR_NOT_ENOUGH_MONEY';
const unknownTransaction = 'ERROR_TRANSACTION_DOES_NOT_EXIST';
/** Callers treat these as success, so they are not refusals. */
const readAsSuccess = new Set([ok, 'ERROR_DUPLICATE_TRANSACTION', unknownTransaction]);
/** The refusals of a bet beyond a limit of the player. */
const limitStatuses = new Set([noMoney, 'ERROR_PLAYER_DISABLED', 'ERROR_UNKNOWN']);

const isUnanswered = ({ status }: Call): boolean => status === null;
const isRefused = ({ status }: Call): boolean => status !== null && !readAsSuccess.has(status);
const movedNothing = (call: Call): boolean => isUnanswered(call) || isRefused(call);

const saysBalance = ({ status, balance }: Call, expected: number): boolean =>
  status === null || (status === ok && balance === expected);

/** The answer to a repeated call: a stored one, or the current balance. */
const isRepeat = ({ answers, balance }: State, { call, transaction, earlierAnswers }: Step): boolean => {
  const stored = answers[transaction] ?? Number.NaN;
  // The first answer never arrived, in an earlier history.
  if (Number.isNaN(stored) && earlierAnswers.length === 0) return call.status === null || call.status === ok;
  return [stored, balance, ...earlierAnswers].some((expected) => saysBalance(call, expected));
};

/** Moves the money and returns whether the answer has the balance afterwards. */
const apply = (state: State, { call, transaction, round }: Step, by: number): boolean => {
  state.balance += by;
  state.fates[transaction] = fate.applied;
  state.answers[transaction] = state.balance;
  if (call.closes) state.rounds[round] = roundState.closed;
  else if (call.operation !== 'rollback' && state.rounds[round] === roundState.unseen)
    state.rounds[round] = roundState.open;
  return saysBalance(call, state.balance);
};

/** Whether the state, or a limit of the player, explains the refusal of a bet in an open round. */
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
  if (state.fates[transaction] === fate.applied) return isRepeat(state, step);
  if (state.fates[transaction] === fate.reversed) return isRepeat(state, step) || isRefused(call);
  if (state.rounds[round] === roundState.closed) return movedNothing(call);
  if (isRefused(call)) return isExplained(call, state, declared);
  if (state.balance < amount) return isUnanswered(call);
  return apply(state, step, -amount);
};

const credit = (state: State, step: Step): boolean => {
  const { call, transaction, round } = step;
  if (state.fates[transaction] === fate.applied) return isRepeat(state, step);
  if (state.rounds[round] === roundState.closed) return movedNothing(call);
  // Operators without free rounds answer this way.
  if (call.status === unknownTransaction) return state.rounds[round] === roundState.unseen;
  if (isRefused(call)) return false;
  return apply(state, step, call.amount ?? 0);
};

const rollback = (state: State, step: Step): boolean => {
  const { call, transaction, reverses, round, stake, reversesNoDebit } = step;
  if (state.fates[transaction] === fate.applied) return isRepeat(state, step);
  const isApplied = state.fates[reverses] === fate.applied;
  if (isApplied && reversesNoDebit) return isUnanswered(call) || call.status === unknownTransaction;
  // Operators may refuse to reverse a debit of a closed round.
  if (isRefused(call)) return isApplied && state.rounds[round] === roundState.closed;
  if (isApplied) state.fates[reverses] = fate.reversed;
  else if (state.fates[reverses] === fate.none) state.fates[reverses] = fate.tombstoned;
  return apply(state, step, isApplied ? stake : 0);
};

/**
 * Carries a call out on the state and returns whether its answer is right. When it is not, the state must not be used
 * afterwards. The rules are those of docs/wallet-operator.md; where operators may differ, every usual answer is right.
 */
export const carryOut = (state: State, step: Step, declared: Declared): boolean => {
  const { call, transaction } = step;
  if (call.operation === 'balance') return saysBalance(call, state.balance);
  // A rollback named this transaction before it arrived.
  if (state.fates[transaction] === fate.tombstoned) return movedNothing(call);
  if (call.operation === 'debit') return debit(state, step, declared);
  return call.operation === 'credit' ? credit(state, step) : rollback(state, step);
};
