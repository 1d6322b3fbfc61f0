import type { Call } from './call.ts';
import { addHistory, createEarlier, type Earlier } from './earlier.ts';
import { ok } from './model.ts';

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
