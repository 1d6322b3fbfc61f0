/** What may go wrong with callbacks that a game server sends. */
const callbackFaults = ['lost', 'late', 'doubled', 'reordered', 'signature'] as const;
/** What may go wrong with its answers to launches and currencies. */
const answerFaults = ['late', 'garbled', 'error'] as const;

export const faultKinds = [...new Set([...callbackFaults, ...answerFaults])];
export type FaultKind = (typeof faultKinds)[number];
/** The chances of each group are at most 1 together. */
export const faultGroups: readonly (readonly FaultKind[])[] = [callbackFaults, answerFaults];

/** Chances from 0 to 1. */
export type FaultRates = Partial<Record<FaultKind, number>>;

export interface Faults {
  ofCallback(): (typeof callbackFaults)[number] | undefined;
  ofAnswer(): (typeof answerFaults)[number] | undefined;
}

/** Chooses faults by their rates. */
export const createFaults = (rates: FaultRates, random: () => number): Faults => {
  const choose = <Kind extends FaultKind>(kinds: readonly Kind[]): Kind | undefined => {
    let rest = random();
    return kinds.find((kind) => (rest -= rates[kind] ?? 0) < 0);
  };
  return { ofCallback: () => choose(callbackFaults), ofAnswer: () => choose(answerFaults) };
};
