import type { Call } from './call.ts';
import { roundOf, type Earlier } from './earlier.ts';
import { fate, roundState, type Declared, type State, type Step } from './model.ts';

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
