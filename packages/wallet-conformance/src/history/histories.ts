import type { Call } from './call.ts';
import { addHistory, createEarlier, forget, type Earlier } from './earlier.ts';
import { ok } from './model.ts';

export interface History {
  number: number;
  /** All of it, in no order. */
  calls: Call[];
}

/** The histories of each player, by their numbers. */
export const historiesOf = (calls: Iterable<Call>): Map<string, History[]> => {
  const players = new Map<string, Map<number, History>>();
  for (const call of calls) {
    let histories = players.get(call.player);
    if (histories === undefined) players.set(call.player, (histories = new Map()));
    const history = histories.get(call.history);
    if (history === undefined) histories.set(call.history, { number: call.history, calls: [call] });
    else history.calls.push(call);
  }
  return new Map(
    [...players].map(([player, histories]) => [
      player,
      [...histories.values()].toSorted((a, b) => a.number - b.number),
    ]),
  );
};

/** The calls in the order they were sent, without reads that were not answered: these have no effect and no result. */
export const inOrder = (calls: readonly Call[]): Call[] =>
  calls
    .filter(({ operation, status }) => operation !== 'balance' || status !== null)
    .toSorted((a, b) => a.sent - b.sent);

/** The balance that a history ends with: a read that was sent after everything else was answered. */
const lastRead = (calls: readonly Call[]): Call | undefined => {
  const last = calls.at(-1);
  const isLast =
    last?.operation === 'balance' &&
    last.status === ok &&
    calls.every((call) => call === last || (call.answered ?? 0) <= last.sent);
  return isLast ? last : undefined;
};

/**
 * Adds a history, in order, to what is known about its player. Returns the read that closes it, or why its outcome stays
 * open: then nothing is known any more about what came before, because some of it may take effect later.
 */
export const closeHistory = (
  earlier: Earlier,
  calls: readonly Call[],
): { closing: Call; reason?: never } | { closing?: never; reason: string } => {
  const [open] = addHistory(earlier, calls);
  const closing = lastRead(calls);
  if (open === undefined && closing !== undefined) return { closing };
  forget(earlier);
  return {
    reason: open === undefined ? 'it does not end with a balance' : `what became of ${open} stays open`,
  };
};

/** What a recording says about each of its players, for one that continues it, and the number of its next history. */
export const readEarlier = (
  calls: Iterable<Call>,
): Map<string, { earlier: Earlier; history: number }> =>
  new Map(
    [...historiesOf(calls)].map(([player, histories]) => {
      const earlier = createEarlier();
      for (const history of histories) closeHistory(earlier, inOrder(history.calls));
      return [player, { earlier, history: (histories.at(-1)?.number ?? -1) + 1 }];
    }),
  );
