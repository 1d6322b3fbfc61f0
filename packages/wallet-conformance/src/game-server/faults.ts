/** What may go wrong with callbacks that a game server sends. */
const callbackFaults = ['lost', 'late', 'doubled', 'reordered', 'signature'] as const;
/** What may go wrong with its answers to launches and currencies. */
const answerFaults = ['late', 'garbled', 'error'] as const;

const faultKinds = [...new Set([...callbackFaults, ...answerFaults])];
type FaultKind = (typeof faultKinds)[number];
/** Chances from 0 to 1. */
export type FaultRates = Partial<Record<FaultKind, number>>;

export interface Faults {
  ofCallback(): (typeof callbackFaults)[number] | undefined;
  ofAnswer(): (typeof answerFaults)[number] | undefined;
}

/** Reads rates such as `late=0.1,doubled=0.2`. Throws an Error that says what is wrong with them. */
export const readFaultRates = (text: string): FaultRates => {
  const rates: FaultRates = {};
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [name, rate] = pair.split('=', 2);
    const kind = faultKinds.find((known) => known === name);
    const chance = Number(rate);
    if (kind === undefined || !(chance >= 0 && chance <= 1))
      throw new Error(
        `--faults must be such as late=0.1,doubled=0.2; the faults are ${faultKinds.join(', ')}`,
      );
    rates[kind] = chance;
  }
  for (const kinds of [callbackFaults, answerFaults]) {
    const sum = kinds.reduce((total, kind) => total + (rates[kind] ?? 0), 0);
    // Such as 0.1 + 0.2 + 0.7 may be a little more than 1.
    if (sum > 1.000001) throw new Error(`--faults must be at most 1 together: ${kinds.join(', ')}`);
  }
  return rates;
};

/** Chooses faults by their rates. */
export const createFaults = (rates: FaultRates, random: () => number): Faults => {
  const choose = <Kind extends FaultKind>(kinds: readonly Kind[]): Kind | undefined => {
    let draw = random();
    return kinds.find((kind) => (draw -= rates[kind] ?? 0) < 0);
  };
  return { ofCallback: () => choose(callbackFaults), ofAnswer: () => choose(answerFaults) };
};
