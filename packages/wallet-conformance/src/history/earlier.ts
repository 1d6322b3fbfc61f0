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

/** The calls of each player by the numbers of their histories. */
export const historiesOf = (calls: readonly Call[]): [player: string, [history: number, Call[]][]][] =>
  [...Map.groupBy(calls, ({ player }) => player)].map(([player, own]) => [
    player,
    [...Map.groupBy(own, ({ history }) => history)].toSorted(([a], [b]) => a - b),
  ]);

/** The calls in the order they were sent, without reads that were not answered: these have no effect and no result. */
export const inOrder = (calls: readonly Call[]): Call[] =>
  calls
    .filter(({ operation, status }) => operation !== 'balance' || status !== null)
    .toSorted((a, b) => a.sent - b.sent);

/**
 * Adds a history, in order, to what is known about its player. Returns the balance that it ends with (a read that was sent
 * after everything else was answered), or why its outcome stays open.
 */
export const closeHistory = (earlier: Earlier, calls: readonly Call[]): Call | string => {
  const [open] = addHistory(earlier, calls);
  if (open !== undefined) return `what became of ${open} stays open`;
  const last = calls.at(-1);
  const isLast = calls.every((call) => call === last || (call.answered ?? 0) <= (last?.sent ?? 0));
  if (last?.operation === 'balance' && last.status === ok && isLast) return last;
  return 'it does not end with a balance';
};

/**
 * What a recording says about each of its players, for one that continues it, and the number of its next history.
 * @throws when the outcome of a history stays open, because some of it may take effect later
 */
export const readEarlier = (calls: readonly Call[]): Map<string, { earlier: Earlier; history: number }> =>
  new Map(
    historiesOf(calls).map(([player, histories]) => {
      const earlier = createEarlier();
      let next = 0;
      for (const [history, own] of histories) {
        const closing = closeHistory(earlier, inOrder(own));
        if (typeof closing === 'string')
          throw new Error(`the recording cannot be continued: ${player}, history ${history}: ${closing}`);
        next = history + 1;
      }
      return [player, { earlier, history: next }];
    }),
  );
