import type { Call } from './call.ts';
import { roundOf, roundStateOf, type Earlier } from './earlier.ts';
import { fate, type Declared, type State, type Step } from './model.ts';

/** What is known before the first call of a history. */
export interface Opening {
  /** Minor units. */
  balance: number;
  earlier: Earlier;
  declared: Declared;
}

/** The search takes too long, or a history cannot be judged. Histories with fewer calls at the same time are decided. */
export class Undecided extends Error {
  override name = 'Undecided';
}

/** Numbers names in the order they come. */
const createIndex = () => {
  const indexes = new Map<string, number>();
  return {
    indexes,
    of: (name: string | undefined): number => {
      if (name === undefined) return -1;
      const index = indexes.get(name) ?? indexes.size;
      indexes.set(name, index);
      return index;
    },
  };
};

/**
 * The calls that can matter, by the time of their answer; those without an answer last. A read without an answer says
 * nothing. Of calls without an answer that are copies the first is enough: it may take effect whenever another may.
 */
const sortCalls = (calls: readonly Call[]): Call[] => {
  const unanswered = new Map<string, Call>();
  for (const call of calls) {
    if (call.answered !== null || call.transaction === undefined) continue;
    const first = unanswered.get(call.transaction);
    if (first === undefined || call.sent < first.sent) unanswered.set(call.transaction, call);
  }
  const answered = calls.filter((call) => call.answered !== null);
  return [
    ...answered.toSorted((a, b) => (a.answered ?? 0) - (b.answered ?? 0)),
    ...[...unanswered.values()].toSorted((a, b) => a.sent - b.sent),
  ];
};

/** The transactions whose outcome in earlier histories decides which answers are right: not what a copy of a rollback reversed. */
const decisiveIds = (calls: readonly Call[], { transactions }: Earlier): Set<string> =>
  new Set(
    calls.flatMap(({ transaction = '', reverses = '' }) =>
      transactions.get(transaction)?.fate === fate.applied ? [transaction] : [transaction, reverses],
    ),
  );

/**
 * The calls of a history as steps of the model, and the state that it opens with.
 * @throws Undecided when the history names a transaction that an earlier one left open
 */
export const prepare = (
  calls: readonly Call[],
  { balance, earlier }: Opening,
): { steps: Step[]; state: State } => {
  const transactions = createIndex();
  const rounds = createIndex();
  const sorted = sortCalls(calls);
  const own = new Map(sorted.map((call) => [call.transaction, call]));
  const steps = sorted.map((call): Step => {
    const reversed = own.get(call.reverses) ?? earlier.transactions.get(call.reverses ?? '')?.call;
    return {
      call,
      transaction: transactions.of(call.transaction),
      reverses: transactions.of(call.reverses),
      round: rounds.of(roundOf(call)),
      stake: reversed?.amount ?? 0,
      reversesNoDebit: reversed !== undefined && reversed.operation !== 'debit',
      earlierAnswers: earlier.transactions.get(call.transaction ?? '')?.answers ?? [],
    };
  });
  const state: State = {
    balance,
    fates: new Uint8Array(transactions.indexes.size),
    answers: new Float64Array(transactions.indexes.size).fill(Number.NaN),
    rounds: new Uint8Array(rounds.indexes.size),
  };
  for (const id of decisiveIds(calls, earlier)) {
    const known = earlier.transactions.get(id);
    if (known !== undefined && known.fate === undefined)
      throw new Undecided(`an earlier history left open what became of ${id}`);
  }
  for (const [id, index] of transactions.indexes)
    state.fates[index] = earlier.transactions.get(id)?.fate ?? fate.none;
  for (const [round, index] of rounds.indexes) state.rounds[index] = roundStateOf(earlier, round);
  return { steps, state };
};
