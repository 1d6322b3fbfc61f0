import type { Call } from './call.ts';
import { transactionState, ok, roundState } from './model.ts';

/** A transaction of an earlier history. */
export interface KnownTransaction {
  id: string;
  /** Undefined when only a rollback has named it. */
  call: Call | undefined;
  state: (typeof transactionState)[keyof typeof transactionState];
  /** Balances in its answers. */
  answers: number[];
}

/** The transactions and rounds of a player after the earlier histories, according to their answers. */
export interface EarlierState {
  transactions: Map<string, KnownTransaction>;
  /** The values of `transactions` as a list, from which `planEarlier` chooses at random. */
  list: KnownTransaction[];
  rounds: Map<string, (typeof roundState)[keyof typeof roundState]>;
}

export const createEarlierState = (): EarlierState => ({
  transactions: new Map(),
  list: [],
  rounds: new Map(),
});

export const roundOf = ({ round = '' }: Call): string => round;

const transactionOf = ({ transactions, list }: EarlierState, id: string): KnownTransaction => {
  let known = transactions.get(id);
  if (known === undefined) {
    known = { id, call: undefined, state: transactionState.none, answers: [] };
    transactions.set(id, known);
    list.push(known);
  }
  return known;
};

/** Updates the state for a call that was answered OK. */
const addAcceptedCall = (earlier: EarlierState, call: Call): void => {
  const { rounds } = earlier;
  const known = transactionOf(earlier, call.transaction ?? '');
  if (known.state === transactionState.none) known.state = transactionState.applied;
  if (call.balance !== null && !known.answers.includes(call.balance)) known.answers.push(call.balance);
  if (call.closes) rounds.set(roundOf(call), roundState.closed);
  else if (call.operation !== 'rollback' && !rounds.has(roundOf(call)))
    rounds.set(roundOf(call), roundState.open);
};

/** Updates a transaction that a rollback named. */
const addReversal = (target: KnownTransaction, isMaybeApplied: boolean): void => {
  if (target.state === transactionState.applied && target.call?.operation === 'debit')
    target.state = transactionState.reversed;
  // A debit without an answer may have arrived before or after its rollback; its copies move nothing in both cases.
  else if (target.state === transactionState.none)
    target.state = isMaybeApplied ? transactionState.reversed : transactionState.tombstoned;
};

/**
 * Updates the state with the answers of one more history; the order of the calls does not matter. Returns the transactions
 * that may still take effect later: those with an unanswered call, unless their outcome is final.
 */
export const addHistory = (earlier: EarlierState, calls: readonly Call[]): string[] => {
  const moves = calls.filter(({ operation }) => operation !== 'balance');
  const unanswered = new Set<string>();
  const answered = new Set<string>();
  for (const call of moves) {
    const known = transactionOf(earlier, call.transaction ?? '');
    known.call ??= call;
    (call.status === null ? unanswered : answered).add(known.id);
  }
  const accepted = moves.filter(({ status }) => status === ok);
  for (const call of accepted) addAcceptedCall(earlier, call);
  for (const { reverses } of accepted)
    if (reverses !== undefined) addReversal(transactionOf(earlier, reverses), unanswered.has(reverses));
  return [...unanswered].filter((id) => {
    const { call, state } = transactionOf(earlier, id);
    const isFinallyRefused =
      answered.has(id) &&
      call !== undefined &&
      (call.operation === 'rollback' || earlier.rounds.get(roundOf(call)) === roundState.closed);
    return state === transactionState.none && !isFinallyRefused;
  });
};

/** The calls of each player, grouped into histories in the order of their numbers. */
export const historiesOf = (calls: readonly Call[]): [player: string, [history: number, Call[]][]][] =>
  [...Map.groupBy(calls, ({ player }) => player)].map(([player, playerCalls]) => [
    player,
    [...Map.groupBy(playerCalls, ({ history }) => history)].toSorted(([a], [b]) => a - b),
  ]);

/** The calls in the order in which they were sent, without unanswered reads, which have no effect and no result. */
export const orderBySentTime = (calls: readonly Call[]): Call[] =>
  calls
    .filter(({ operation, status }) => operation !== 'balance' || status !== null)
    .toSorted((a, b) => a.sent - b.sent);

/**
 * Updates the state with a history, whose calls are ordered by time. Returns its closing balance (a read that was sent
 * after all other calls were answered), or a text that says why the outcome is unknown.
 */
export const closeHistory = (earlier: EarlierState, calls: readonly Call[]): Call | string => {
  const [open] = addHistory(earlier, calls);
  if (open !== undefined) return `the outcome of ${open} is unknown`;
  const last = calls.at(-1);
  const isLast = calls.every((call) => call === last || (call.answered ?? 0) <= (last?.sent ?? 0));
  if (last?.operation === 'balance' && last.status === ok && isLast) return last;
  return 'it has no closing balance';
};

/**
 * Reads the state of each player at the end of a recording, and the number of the player's next history.
 * @throws when the outcome of a history is unknown, because its calls may still take effect later
 */
export const readEarlierStates = (
  calls: readonly Call[],
): Map<string, { earlier: EarlierState; history: number }> =>
  new Map(
    historiesOf(calls).map(([player, histories]) => {
      const earlier = createEarlierState();
      let next = 0;
      for (const [history, historyCalls] of histories) {
        const closing = closeHistory(earlier, orderBySentTime(historyCalls));
        if (typeof closing === 'string')
          throw new Error(`the recording cannot be continued: ${player}, history ${history}: ${closing}`);
        next = history + 1;
      }
      return [player, { earlier, history: next }];
    }),
  );
