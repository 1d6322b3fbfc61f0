import type { Call } from './call.ts';

/** The state of a transaction. */
export const fate = { none: 0, applied: 1, reversed: 2, tombstoned: 3 } as const;

/** A call with its transactions as indexes into the state. */
export interface Step {
  call: Call;
  /** −1: none. */
  transaction: number;
  reverses: number;
}

/** The wallet of one player, as far as one history touches it. */
export interface State {
  balance: number;
  fates: Uint8Array;
  /** Balance with which each transaction was answered when it was applied. */
  answers: Float64Array;
}

export const ok = 'OK';
/** Callers take these for success, so they must not follow a refusal. */
const readAsSuccess = new Set([ok, 'ERROR_DUPLICATE_TRANSACTION']);
const noMoney = 'ERROR_NOT_ENOUGH_MONEY';
const unknownTransaction = 'ERROR_TRANSACTION_DOES_NOT_EXIST';

const isRefusal = ({ status }: Call): boolean => status === null || !readAsSuccess.has(status);
const saysBalance = ({ status, balance }: Call, expected: number): boolean =>
  status === null || (status === ok && balance === expected);

/** The answer to a repeated call: the stored one, or the current balance. */
const isRepeat = ({ answers, balance }: State, { call, transaction }: Step): boolean =>
  saysBalance(call, answers[transaction] ?? Number.NaN) || saysBalance(call, balance);

const apply = (state: State, index: number, to: number, by: number): void => {
  state.balance += by;
  state.fates[index] = to;
  state.answers[index] = state.balance;
};

const debit = (state: State, step: Step): boolean => {
  const { call, transaction } = step;
  const { amount = 0 } = call;
  switch (state.fates[transaction]) {
    case fate.applied:
      return isRepeat(state, step);
    case fate.reversed:
      return isRepeat(state, step) || isRefusal(call);
    case fate.tombstoned:
      return isRefusal(call);
    default:
      if (call.status === noMoney)
        return state.balance < amount && (call.balance === null || call.balance === state.balance);
      // Refused for a reason outside of this model, such as a disabled game; nothing moved.
      if (call.status !== null && isRefusal(call)) return true;
      if (state.balance < amount) return call.status === null;
      apply(state, transaction, fate.applied, -amount);
      return saysBalance(call, state.balance);
  }
};

const credit = (state: State, step: Step): boolean => {
  const { call, transaction } = step;
  if (state.fates[transaction] === fate.applied) return isRepeat(state, step);
  if (call.status !== null && isRefusal(call)) return true;
  apply(state, transaction, fate.applied, call.amount ?? 0);
  return saysBalance(call, state.balance);
};

const rollback = (state: State, step: Step, amounts: Float64Array): boolean => {
  const { call, transaction, reverses } = step;
  if (state.fates[transaction] === fate.applied) return isRepeat(state, step);
  const debited = state.fates[reverses] === fate.applied;
  if (call.status === unknownTransaction) {
    // Callers take it for success too: the debit must not be accepted later.
    if (state.fates[reverses] === fate.none) state.fates[reverses] = fate.tombstoned;
    return !debited;
  }
  if (call.status !== null && call.status !== ok) return false;
  if (debited) state.fates[reverses] = fate.reversed;
  else if (state.fates[reverses] === fate.none) state.fates[reverses] = fate.tombstoned;
  apply(state, transaction, fate.applied, debited ? (amounts[reverses] ?? 0) : 0);
  return saysBalance(call, state.balance);
};

/**
 * Carries a call out on the state and returns whether its answer is right. When it is not, the state must not be used
 * afterwards. The rules are those of docs/wallet-operator.md; where operators may differ, every usual answer is right.
 */
export const carryOut = (state: State, step: Step, amounts: Float64Array): boolean => {
  switch (step.call.operation) {
    case 'debit':
      return debit(state, step);
    case 'credit':
      return credit(state, step);
    case 'rollback':
      return rollback(state, step, amounts);
    default:
      return saysBalance(step.call, state.balance);
  }
};
