import type { DifferenceView } from './queries.ts';

/** A transaction that is missing here. */
export type Missing = Pick<DifferenceView, 'number' | 'playerId' | 'transactionId' | 'there'>;

type Placed = Pick<DifferenceView, 'number' | 'there'>;

const order = ['debit', 'credit', 'rollback'];

/** At the same time, or where times are unknown, what ends the round comes last, and debits before credits before rollbacks. */
const inRound = (a: Placed, b: Placed): number =>
  Number(a.there?.roundClosed ?? false) - Number(b.there?.roundClosed ?? false) ||
  order.indexOf(a.there?.operation ?? '') - order.indexOf(b.there?.operation ?? '') ||
  a.number - b.number;

/** As they happened at the game server. */
export const inOrder = (a: Placed, b: Placed): number =>
  Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01') || inRound(a, b);

/** Whether one transaction comes before another, of which another statement may not give the time. */
export const isBefore = (a: Placed, b: Placed): boolean =>
  (a.there?.time && b.there?.time ? inOrder(a, b) : inRound(a, b)) < 0;

/** Names a round of a player. */
export const roundKey = (playerId: string, roundId: string | null | undefined): string =>
  `${playerId}\n${roundId}`;

const transactionKey = ({ playerId, transactionId }: Omit<Missing, 'number' | 'there'>): string =>
  `${playerId}\n${transactionId}`;

/** Missing transactions by round, sorted once: a round may have very many. */
export const createMissingRounds = (missing: readonly Missing[]) => {
  const repaired = new Set<string>();
  const isRepaired = (row: Missing): boolean => repaired.has(transactionKey(row));
  // Two transactions compare by time only where both have one, so the earliest is first in one of these three lists.
  const listsOf = (ofRound: readonly Missing[]): Missing[][] => {
    const { timed = [], untimed = [] } = Object.groupBy(ofRound, ({ there }) =>
      there?.time ? 'timed' : 'untimed',
    );
    return [timed.toSorted(inOrder), timed.toSorted(inRound), untimed.toSorted(inRound)].map((list) =>
      list.toReversed(),
    );
  };
  const rounds = new Map(
    [...Map.groupBy(missing, ({ playerId, there }) => roundKey(playerId, there?.roundId))].map(
      ([round, ofRound]) => [round, listsOf(ofRound)],
    ),
  );
  return {
    /** Others do not wait for this transaction any more, in any statement. */
    markRepaired: (row: Missing): void => void repaired.add(transactionKey(row)),
    /** Whether another transaction of the round is missing that comes before this one. */
    hasEarlier: (round: string, row: Missing): boolean =>
      (rounds.get(round) ?? []).some((list) => {
        for (let last = list.at(-1); last && isRepaired(last); last = list.at(-1)) list.pop();
        const own = transactionKey(row);
        const earliest = list.findLast((other) => transactionKey(other) !== own && !isRepaired(other));
        return earliest !== undefined && isBefore(earliest, row);
      }),
  };
};
