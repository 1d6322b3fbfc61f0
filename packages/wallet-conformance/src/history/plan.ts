import type { CallRequest } from './call.ts';
import type { EarlierState, KnownTransaction } from './earlier-state.ts';
import { transactionState, roundState } from './model.ts';

/** Number of calls in a history that name transactions of earlier histories. */
const earlierPerHistory = 3;

/** Possible calls that name a transaction of an earlier history, or its round. */
const callsAfter = (
  { id, call, state }: KnownTransaction,
  { rounds }: EarlierState,
  newId: () => string,
): CallRequest[] => {
  // Only a rollback has named the transaction: send the debit after its rollback.
  if (call === undefined) return [{ operation: 'debit', transaction: id, round: newId(), amount: 1 }];
  const { operation, transaction, reverses, amount, round = '', closes = false } = call;
  const copy = { operation, transaction, reverses, amount, round };
  const calls: CallRequest[] = [operation === 'debit' ? copy : { ...copy, closes }];
  if (operation === 'debit' || (operation === 'credit' && state === transactionState.applied))
    calls.push({ operation: 'rollback', transaction: newId(), reverses: id, round, closes: false });
  if (rounds.get(round) === roundState.closed) {
    calls.push({ operation: 'debit', transaction: newId(), round, amount: 1 });
    calls.push({ operation: 'credit', transaction: newId(), round, amount: 1, closes: false });
  }
  return calls;
};

/**
 * Chooses calls that name transactions of any earlier history: copies, rollbacks, debits after their rollback, and debits
 * and credits in a closed round. In a correct wallet only a rollback of an applied debit changes the balance.
 */
export const planEarlier = (
  earlier: EarlierState,
  random: () => number,
  newId: () => string,
): CallRequest[] => {
  const choose = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const chosen = Array.from({ length: earlierPerHistory }, () => choose(earlier.list));
  return chosen.flatMap((known) => (known && choose(callsAfter(known, earlier, newId))) ?? []);
};

/** A callback to send at a certain time. */
export interface PlannedCall extends CallRequest {
  /** Milliseconds after the start of the concurrent part of the history. */
  at: number;
}

export interface Plan {
  /** Sequential debits of 0 that open the rounds, because some operators refuse credits in rounds without a bet. */
  opening: CallRequest[];
  /** Calls that overlap, ordered by `at`. */
  concurrent: PlannedCall[];
}

/** The time in which the concurrent calls of a history are sent; short, so that they overlap. */
const spanMs = 20;
/** Maximum of concurrent calls per history: with the opening and closing calls, at most 30 can be judged. */
const maxConcurrent = 21;
/** Maximum of debits and credits per history. */
const maxTransactions = 7;

/**
 * Chooses the calls of one history: debits and credits of 1, 4, 16, 64 … minor units, each amount at most once, so that
 * each balance shows which transactions it includes; copies and rollbacks of some of them, before, during and after them; a
 * concurrent credit that closes a round; calls that name transactions of earlier histories; reads; and sometimes a debit of
 * the whole balance, which is rolled back.
 * @param balance of the player, in minor units
 */
export const planHistory = (
  balance: number,
  earlier: EarlierState,
  random: () => number,
  newId: () => string,
): Plan => {
  const randomTime = (): number => random() * spanMs;
  const chance = (probability: number): boolean => random() < probability;
  const [openRound, closingRound] = [newId(), newId()];
  const openingDebit = { operation: 'debit', amount: 0 } as const;
  const opening = [openRound, closingRound].map((round) => ({
    ...openingDebit,
    transaction: newId(),
    round,
  }));
  const earlierCalls = planEarlier(earlier, random, newId);
  const concurrent: PlannedCall[] = earlierCalls.map((call) => ({ ...call, at: randomTime() }));
  const refundedAmounts = new Set(
    concurrent.map(({ reverses = '' }) => earlier.transactions.get(reverses)?.call?.amount),
  );
  for (let read = 0; read < 3; read++) concurrent.push({ operation: 'balance', at: randomTime() });
  if (chance(0.25)) {
    const debit = { operation: 'debit', transaction: newId(), round: openRound, amount: balance } as const;
    const rollback = { transaction: newId(), reverses: debit.transaction, round: openRound, closes: false };
    concurrent.push({ ...debit, at: randomTime() });
    // Refunds the money for the next histories.
    concurrent.push({ operation: 'rollback', ...rollback, at: spanMs });
  }
  // The balance can pay the first amounts, whose sum is (4 ** count - 1) / 3.
  const count = Math.min(maxTransactions, Math.floor(Math.log(3 * balance + 1) / Math.log(4)));
  for (let power = 0; power < count; power++) {
    const amount = 4 ** power;
    // A rollback of an earlier debit may change the balance by the same amount.
    if (refundedAmounts.has(amount)) continue;
    const round = chance(0.3) ? closingRound : openRound;
    const isDebit = chance(0.65);
    const transaction = newId();
    const move: PlannedCall = isDebit
      ? { operation: 'debit', transaction, round, amount, at: randomTime() }
      : { operation: 'credit', transaction, round, amount, closes: round === closingRound, at: randomTime() };
    const calls = [move];
    if (chance(0.3)) calls.push({ ...move, at: randomTime() });
    if (isDebit && chance(0.4)) {
      const reversal = { transaction: newId(), reverses: transaction, round };
      const rollback: PlannedCall = { operation: 'rollback', ...reversal, closes: false, at: randomTime() };
      // Sometimes only the rollback is sent; a later history may send the debit.
      if (chance(0.2)) calls.splice(0);
      calls.push(rollback);
      if (chance(0.3))
        calls.push({ ...rollback, ...(chance(0.5) && { transaction: newId() }), at: randomTime() });
    }
    if (concurrent.length + calls.length > maxConcurrent) break;
    concurrent.push(...calls);
  }
  return { opening, concurrent: concurrent.toSorted((a, b) => a.at - b.at) };
};
