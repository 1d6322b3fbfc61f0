import type { Call } from './call.ts';
import { serialOrder } from './serial-order.ts';

const unanswered = (call: Call): Call => ({ ...call, answered: null, status: null, balance: null });

/**
 * The smallest part of a history without a serial order: answers are forgotten one after the other as long as the rest
 * still contradict each other. A call whose answer is forgotten may have taken effect at any time, or never, so what
 * is left contradicts itself whatever became of the others.
 */
export const minimal = (calls: readonly Call[], opening: number): Call[] => {
  let known = [...calls];
  for (const call of calls) {
    const fewer = known.map((one) => (one === call ? unanswered(one) : one));
    if (serialOrder(fewer, opening) === undefined) known = fewer;
  }
  return known.filter(({ answered }) => answered !== null);
};
