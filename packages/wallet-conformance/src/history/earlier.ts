import type { Call } from './call.ts';
import { fate, ok, roundState } from './model.ts';

/** What the earlier histories of a player say about a transaction. */
export interface KnownTransaction {
  id: string;
  /** Undefined: only a rollback has named it. */
  call: Call | undefined;
  fate: (typeof fate)[keyof typeof fate];
  /** Balances with which it was answered. */
  answers: number[];
}

/** What the earlier histories of a player say. */
export interface Earlier {
  transactions: Map<string, KnownTransaction>;
  /** Those of `transactions` in the order they were first seen, to choose from. */
  list: KnownTransaction[];
  rounds: Map<string, (typeof roundState)[keyof typeof roundState]>;
}

export const createEarlier = (): Earlier => ({ transactions: new Map(), list: [], rounds: new Map() });

export const roundOf = ({ round = '' }: Call): string => round;

const transactionOf = ({ transactions, list }: Earlier, id: string): KnownTransaction => {
  let known = transactions.get(id);
  if (known === undefined) {
    known = { id, call: undefined, fate: fate.none, answers: [] };
    transactions.set(id, known);
    list.push(known);
  }
  return known;
};

/** Notes that a call was answered OK. */
const noteAccepted = (earlier: Earlier, call: Call): void => {
  const { rounds } = earlier;
  const known = transactionOf(earlier, call.transaction ?? '');
  if (known.fate === fate.none) known.fate = fate.applied;
  if (call.balance !== null && !known.answers.includes(call.balance)) known.answers.push(call.balance);
  if (call.closes) rounds.set(roundOf(call), roundState.closed);
  else if (call.operation !== 'rollback' && !rounds.has(roundOf(call)))
    rounds.set(roundOf(call), roundState.open);
};

const noteReversal = (target: KnownTransaction, isMaybeApplied: boolean): void => {
  if (target.fate === fate.applied && target.call?.operation === 'debit') target.fate = fate.reversed;
  // A request without an answer may have come before the rollback, or after it: both move nothing.
  else if (target.fate === fate.none) target.fate = isMaybeApplied ? fate.reversed : fate.tombstoned;
};

/**
 * Adds what the answers of one more history say; it depends on no order of the calls. Returns the transactions that may
 * still take effect later: those with a call without an answer, unless their outcome is final.
 */
export const addHistory = (earlier: Earlier, calls: readonly Call[]): string[] => {
  const moves = calls.filter(({ operation }) => operation !== 'balance');
  const unanswered = new Set<string>();
  const answered = new Set<string>();
  for (const call of moves) {
    const known = transactionOf(earlier, call.transaction ?? '');
    known.call ??= call;
    (call.status === null ? unanswered : answered).add(known.id);
  }
  const accepted = moves.filter(({ status }) => status === ok);
  for (const call of accepted) noteAccepted(earlier, call);
  for (const { reverses } of accepted)
    if (reverses !== undefined) noteReversal(transactionOf(earlier, reverses), unanswered.has(reverses));
  return [...unanswered].filter((id) => {
    const { call, fate: known } = transactionOf(earlier, id);
    const isRefusedForGood =
      answered.has(id) &&
      call !== undefined &&
      (call.operation === 'rollback' || earlier.rounds.get(roundOf(call)) === roundState.closed);
    return known === fate.none && !isRefusedForGood;
  });
};
