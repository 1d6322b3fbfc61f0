import type { Asked } from './call.ts';
import type { Earlier, KnownTransaction } from './earlier.ts';
import { fate, roundState } from './model.ts';

/** Transactions of earlier histories that one history names. */
const perHistory = 3;

/** The calls that may follow a transaction of an earlier history. */
const callsAfter = (
  { id, call, fate: known }: KnownTransaction,
  { rounds }: Earlier,
  newId: () => string,
): Asked[] => {
  // A debit whose rollback came long before it.
  if (call === undefined) return [{ operation: 'debit', transaction: id, round: newId(), amount: 1 }];
  const { operation, transaction = '', reverses, amount, round = '', closes } = call;
  const copy = { operation, transaction, round };
  const calls: Asked[] = [
    operation === 'rollback'
      ? { ...copy, reverses: reverses ?? '', closes: closes ?? false }
      : { ...copy, amount: amount ?? 0, ...(operation === 'credit' && { closes: closes ?? false }) },
  ];
  if (operation === 'debit' || (operation === 'credit' && known === fate.applied))
    calls.push({ operation: 'rollback', transaction: newId(), reverses: id, round, closes: false });
  if (rounds.get(round) === roundState.closed) {
    calls.push({ operation: 'debit', transaction: newId(), round, amount: 1 });
    calls.push({ operation: 'credit', transaction: newId(), round, amount: 1, closes: false });
  }
  return calls;
};

/**
 * Chooses calls that name transactions of earlier histories, however old: copies, rollbacks, debits after their
 * rollback, and moves in a closed round. A right wallet moves nothing for them, but for rollbacks of debits that stand.
 */
export const planEarlier = (earlier: Earlier, random: () => number, newId: () => string): Asked[] => {
  const choose = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  return Array.from({ length: perHistory }, () => choose(earlier.list)).flatMap((known) => {
    const call = known && choose(callsAfter(known, earlier, newId));
    return call === undefined ? [] : [call];
  });
};

/** A callback to send at some time after a history has begun. */
export interface Planned extends Asked {
  /** Milliseconds. */
  at: number;
}

export interface Plan {
  /** Opens the rounds, one call after the other, so that operators who pay no free rounds take the credits. */
  opening: Asked[];
  /** Sent at the same time, by `at`. */
  concurrent: Planned[];
}

/** How long the calls of a history are spread; short, so that they overlap. */
const spanMs = 20;
/** Concurrent calls of one history; with those that open and close it, at most 30 can be judged. */
const maxConcurrent = 21;
/** Transactions of one history, without rollbacks. */
const mostTransactions = 7;

/**
 * Chooses the calls of one history: debits and credits of 1, 4, 16, 64 … minor units, so that each balance names the
 * transactions that it includes, and each at most once; copies and rollbacks of some, before, beside and after them;
 * a credit that closes a round beside them; calls that name transactions of earlier histories; reads; and now and then
 * a debit of the whole balance, which is rolled back.
 * @param balance minor units that the player has
 * @param id makes an id that was never used
 */
export const planHistory = (
  balance: number,
  earlier: Earlier,
  random: () => number,
  id: () => string,
): Plan => {
  const at = (): number => random() * spanMs;
  const chance = (share: number): boolean => random() < share;
  const [openRound, closingRound] = [id(), id()];
  const open = (round: string): Asked => ({ operation: 'debit', transaction: id(), round, amount: 0 });
  const concurrent: Planned[] = planEarlier(earlier, random, id).map((call) => ({ ...call, at: at() }));
  const returned = new Set(
    concurrent.map(({ reverses = '' }) => earlier.transactions.get(reverses)?.call?.amount),
  );
  for (let read = 0; read < 3; read++) concurrent.push({ operation: 'balance', at: at() });
  if (chance(0.25)) {
    const debit = { operation: 'debit', transaction: id(), round: openRound, amount: balance } as const;
    const rollback = { transaction: id(), reverses: debit.transaction, round: openRound };
    concurrent.push({ ...debit, at: at() });
    // Gives the money back for the histories to come.
    concurrent.push({ operation: 'rollback', ...rollback, at: spanMs });
  }
  const count = Math.min(mostTransactions, Math.floor(Math.log(3 * balance + 1) / Math.log(4)));
  for (let power = 0; power < count; power++) {
    const amount = 4 ** power;
    // A rollback of an earlier debit may move the same amount.
    if (returned.has(amount)) continue;
    const round = chance(0.3) ? closingRound : openRound;
    const isDebit = chance(0.65);
    const closes = !isDebit && round === closingRound;
    const ids = { transaction: id(), round };
    const move: Planned = isDebit
      ? { operation: 'debit', ...ids, amount, at: at() }
      : { operation: 'credit', ...ids, amount, closes, at: at() };
    const calls = [move];
    if (chance(0.3)) calls.push({ ...move, at: at() });
    if (isDebit && chance(0.4)) {
      const reversal = { transaction: id(), reverses: ids.transaction, round };
      const rollback: Planned = { operation: 'rollback', ...reversal, closes: false, at: at() };
      // Some debits are sent in a later history only.
      if (chance(0.2)) calls.splice(0);
      calls.push(rollback);
      if (chance(0.3)) calls.push({ ...rollback, ...(chance(0.5) && { transaction: id() }), at: at() });
    }
    if (concurrent.length + calls.length > maxConcurrent) break;
    concurrent.push(...calls);
  }
  return {
    opening: [open(openRound), open(closingRound)],
    concurrent: concurrent.toSorted((a, b) => a.at - b.at),
  };
};
