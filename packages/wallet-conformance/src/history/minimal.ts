import type { Call } from './call.ts';
import type { Opening } from './prepare.ts';
import { serialOrder, Undecided, type Budget } from './serial-order.ts';

const unanswered = (call: Call): Call => ({ ...call, answered: null, status: null, balance: null });

/**
 * The smallest part of a history without a serial order: answers are forgotten one after the other as long as the rest
 * still contradict each other. A call whose answer is forgotten may have taken effect at any time, or never, so what
 * is left contradicts itself whatever became of the others. When the budget is used up, the rest is not tried.
 */
export const minimal = (calls: readonly Call[], opening: Opening, budget: Budget): Call[] => {
  let known = [...calls];
  try {
    for (const call of calls) {
      const fewer = known.map((one) => (one === call ? unanswered(one) : one));
      if (serialOrder(fewer, opening, budget) === undefined) known = fewer;
    }
  } catch (error) {
    if (!(error instanceof Undecided)) throw error;
  }
  return known.filter(({ answered }) => answered !== null);
};
